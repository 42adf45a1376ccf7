"""Scenarios as text: TOML for files, and the part of a link after `#`.

A link lists the fields of the scenario: `world=four-rooms&agents=fwrl;qlcat&goal=9,9&training=begin:9,9:4000`.
An agent's options follow its name, as in `fwrl,backup:expected`. A leg of training is how it begins, its goal and its
steps; then, named, what is not usual: its side, its start, and the number of its map among `maps`.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from fwrl.errors import FwrlError
from fwrl.web.play.roster import default_options
from fwrl.web.play.scenario import Scenario, from_plain, to_plain

ROW = "/"  # between the rows of a map


def to_toml(scenario: Scenario) -> str:
    """The scenario as TOML."""
    plain = to_plain(scenario)
    legs = plain.pop("training")
    lines = [f"{name} = {_toml(value)}" for name, value in plain.items()]
    for leg in legs:
        lines += ["", "[[training]]", *(f"{name} = {_toml(value)}" for name, value in leg.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, str):
        return f"'''\n{value}\n'''" if "\n" in value and "'''" not in value else json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_toml(part)}" for name, part in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


def to_address(scenario: Scenario) -> str:
    """The scenario as the part of a link after `#`."""
    plain = to_plain(scenario)
    maps: list[str] = []
    fields: dict[str, str] = {}
    for name, value in plain.items():
        if name == "agents":
            fields[name] = ";".join(map(_agent_text, value))
        elif name == "training":
            fields[name] = ";".join(_leg_text(leg, maps) for leg in value)
        elif name == "map":
            fields[name] = value.replace("\n", ROW)
        elif name in ("start", "goal"):
            fields[name] = f"{value[0]},{value[1]}"
        elif name in ("world", "seed", "speed", "trips"):
            fields[name] = value if isinstance(value, str) else f"{value:.15g}"
    if maps:
        fields["maps"] = ";".join(maps)
    return urlencode({name: value for name, value in fields.items() if value}, safe=",;:/@=", quote_via=quote)


def from_address(text: str) -> Scenario:
    """The scenario in the part of a link after `#`.

    >>> from_address("world=h-maze&goal=2,0&agents=fwrl,backup:expected;ql").agents[0].title
    'FWRL (backup expected)'
    """
    try:
        fields = dict(parse_qsl(text, strict_parsing=True, max_num_fields=20))
        maps = [rows.replace(ROW, "\n") for rows in fields.pop("maps", "").split(";")]
        plain: dict[str, Any] = dict(fields)
        if "map" in plain:
            plain["map"] = plain["map"].replace(ROW, "\n")
        for name in ("seed", "speed"):
            if name in plain:
                plain[name] = json.loads(plain[name])
        for name in ("start", "goal"):
            if name in plain:
                plain[name] = _pair(plain[name])
        if "agents" in plain:
            plain["agents"] = [_agent(entry) for entry in plain["agents"].split(";")]
        if "training" in plain:
            plain["training"] = [_leg(entry, maps) for entry in plain["training"].split(";")]
    except (ValueError, IndexError, KeyError, RecursionError) as error:
        raise FwrlError(f"this link cannot be read ({error}); copy it again") from error
    return from_plain(plain)


def _agent_text(agent: str | dict[str, Any]) -> str:
    if isinstance(agent, str):
        return agent
    options = [f"{name}:{json.dumps(value).strip(chr(34))}" for name, value in agent.items() if name != "name"]
    return ",".join([agent["name"], *options])


def _agent(text: str) -> dict[str, Any]:
    name, *listed = text.split(",")
    usual = default_options(name)
    options = {}
    for entry in listed:
        option, _, value = entry.partition(":")
        options[option] = value if isinstance(usual.get(option), str) else json.loads(value)
    return {"name": name, **options}


def _leg_text(leg: dict[str, Any], maps: list[str]) -> str:
    parts = [leg["how"], f"{leg['goal'][0]},{leg['goal'][1]}", str(leg["steps"])]
    if "side" in leg:
        parts.append(f"side={leg['side']}")
    if "start" in leg:
        parts.append(f"start={leg['start'][0]},{leg['start'][1]}")
    if "map" in leg:
        rows = leg["map"].replace("\n", ROW)
        if rows not in maps:
            maps.append(rows)
        parts.append(f"map={maps.index(rows)}")
    return ":".join(parts)


def _leg(text: str, maps: list[str]) -> dict[str, Any]:
    how, goal, steps, *more = text.split(":")
    leg: dict[str, Any] = {"how": how, "goal": _pair(goal), "steps": int(steps)}
    for entry in more:
        name, _, value = entry.partition("=")
        leg[name] = _pair(value) if name == "start" else maps[int(value)] if name == "map" else value
    return leg


def _pair(text: str) -> list[int]:
    x, y = text.split(",")
    return [int(x), int(y)]
