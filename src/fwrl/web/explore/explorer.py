"""What pages ask: routes with their evidence, states by name, weak spots; all pages share one planner and its map.

Every answer is made of what can be sent as JSON. States are codes, with their names where people read them.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fwrl.errors import FwrlError
from fwrl.planner import Explanation, NoRouteError, Planner
from fwrl.planner.explanation import shown_time
from fwrl.planner.goal_policies import BACKUPS
from fwrl.planner.state_summary import state_summary
from fwrl.planner.unreachable import Gap
from fwrl.planner.weak_spots import bridges, single_trip
from fwrl.web.explore.map_frame import encode
from fwrl.web.explore.question import Question, to_address
from fwrl.web.explore.recency import Recency
from fwrl.web.explore.state_map import StateMap
from fwrl.web.explore.words import coverage_sentence, difference, gap_sentences, sentence

FOUND = 12  # states that a search shows
LISTED = 200  # weak spots of a kind that are listed
Json = dict[str, Any]


class Shown(NamedTuple):
    """What a server shows.

    Attributes:
        planner: The planner.
        map: Its map.
        recency: Which steps are old; None where the log has no times.
        file: The name of its file.
        positions: The name of the file of positions; None without one.

    """

    planner: Planner
    map: StateMap
    recency: Recency | None
    file: str
    positions: str | None


class Explorer:
    """Answers questions about one planner."""

    def __init__(self, shown: Shown) -> None:
        self.shown = shown
        self._planner, self._experience = shown.planner, shown.planner.experience

    @cached_property
    def frame(self) -> bytes:
        """The map as bytes."""
        return encode(self.shown.map)

    def hello(self) -> Json:
        """The first message to a page."""
        summary, drawn = self._planner.summary, self.shown.map.drawn
        return {
            "type": "hello",
            "file": self.shown.file,
            "states": summary.states,
            "edges": summary.edges,
            "trips": summary.trips,
            "transitions": summary.transitions,
            "map": self.shown.map.kind,
            "unplaced": int((~np.isfinite(drawn).all(axis=1)).sum()),
            "actions": self._experience.action is not None,
            "old": None if self.shown.recency is None else self.shown.recency.words,
        }

    def names(self, codes: list[int]) -> Json:
        """The names of states."""
        self._check(codes)
        return {"type": "names", "names": self._named(codes)}

    def search(self, text: str) -> Json:
        """The states whose names contain a text or match a pattern, those that begin with it first."""
        codes = self._planner.states.search(text)
        names = [str(name) for name in self._planner.states.decode(codes.tolist())]
        folded = text.casefold()
        order = sorted(range(len(names)), key=lambda k: (not names[k].casefold().startswith(folded), len(names[k])))
        found = [{"state": int(codes[k]), "name": names[k]} for k in order[:FOUND]]
        return {"type": "found", "text": text, "total": len(names), "states": found}

    def look(self, state: int) -> Json:
        """What was logged of a state."""
        self._check([state])
        summary = state_summary(self._experience, state)
        return {"type": "state", "code": state, **summary._asdict(), "state": str(summary.state)}

    def answer(self, question: Question) -> Json:
        """The route of a question by both backups, compared with the one without conditions."""
        self._check([code for code in (question.start, question.goal) if code is not None])
        self._check([*question.via, *question.avoid])
        said: Json = {"type": "answer", "address": to_address(question, self._planner), **self._question(question)}
        if question.start is None or question.goal is None:
            return said
        found = {backup: self._route(replace(question, backup=backup)) for backup in BACKUPS}
        said["backups"] = {backup: _summary(found[backup]) for backup in BACKUPS}
        edges = {each.route.edges for each in found.values() if isinstance(each, Explanation)}
        said["same"] = len(edges) == 1
        chosen = found[question.backup]
        if isinstance(chosen, Explanation):
            said["sentence"] = sentence(chosen)
            said["route"] = self._steps(chosen)
        else:
            said["problem"] = "No way is known." if isinstance(chosen, NoRouteError) else str(chosen)
        if isinstance(chosen, NoRouteError):
            said["gap"] = self._gap(chosen.gap)
        if question.conditional:
            said |= self._compared(question, chosen)
        return said

    def explanation(self, question: Question) -> Explanation:
        """The route of a question, or the error why there is none."""
        if question.start is None or question.goal is None:
            raise FwrlError("choose from and to first")
        states = self._planner.states
        return self._planner.explain(
            states[question.start],
            states[question.goal],
            backup=question.backup,
            via=[states[code] for code in question.via],
            avoid=[states[code] for code in question.avoid],
            positions=self.shown.map.known_positions,
        )

    def coverage(self) -> Json:
        """The weak spots of the log."""
        return self._coverage

    @cached_property
    def _coverage(self) -> Json:
        links = self.shown.map.links
        found = bridges(self._experience, links)
        trip = single_trip(self._experience, links)[found[:LISTED]]
        trips = self._experience.evidence.trips
        named = [None] * len(trip) if trips is None else [str(trips[int(code)]) for code in trip]
        ends = np.flatnonzero(links.dead_end)
        entered = np.bincount(links.target, weights=links.count, minlength=links.n_states)
        ends = ends[np.argsort(-entered[ends], kind="stable")]
        one_way = np.flatnonzero(links.one_way)
        one_way = one_way[np.argsort(-links.count[one_way], kind="stable")]
        return {
            "type": "coverage",
            "sentence": coverage_sentence(len(found), len(ends), len(one_way), trips is not None),
            "trips": trips is not None,
            "bridges": [links.source[found].tolist(), links.target[found].tolist()],
            "counts": {
                "bridges": len(found),
                "dead ends": len(ends),
                "one-way": len(one_way),
                "links": len(links.source),
            },
            "lists": {
                "bridges": [
                    {**row, "trip": name} for row, name in zip(self._links(found[:LISTED]), named, strict=True)
                ],
                "dead ends": [
                    {"from": code, "name": name, "seen": int(entered[code])}
                    for code, name in self._named(ends[:LISTED].tolist())
                ],
                "one-way": self._links(one_way[:LISTED]),
            },
        }

    def _links(self, chosen: Any) -> list[Json]:
        links = self.shown.map.links
        source, target = links.source[chosen].tolist(), links.target[chosen].tolist()
        names = zip(self._named(source), self._named(target), links.count[chosen].tolist(), strict=True)
        return [{"from": a, "to": b, "name": f"{one} → {other}", "seen": n} for (a, one), (b, other), n in names]

    def _check(self, codes: list[int]) -> None:
        S = len(self._planner.states)
        for code in codes:
            if not 0 <= code < S:
                raise FwrlError(f"expected a state from 0 to {S - 1}, got {code}")

    def _named(self, codes: list[int]) -> list[tuple[int, str]]:
        return [(code, str(name)) for code, name in zip(codes, self._planner.states.decode(codes), strict=True)]

    def _question(self, question: Question) -> Json:
        ends = [[] if code is None else self._named([code]) for code in (question.start, question.goal)]
        return {
            "from": ends[0][0] if ends[0] else None,
            "to": ends[1][0] if ends[1] else None,
            "via": self._named(list(question.via)),
            "avoid": self._named(list(question.avoid)),
            "backup": question.backup,
            "view": question.view,
        }

    def _route(self, question: Question) -> Explanation | FwrlError:
        try:
            return self.explanation(question)
        except FwrlError as error:
            return error

    def _steps(self, explanation: Explanation) -> Json:
        route, experience = explanation.route, self._experience
        edges = np.array(route.edges, np.int64)
        old, last = self.shown.recency, experience.evidence.last
        steps = []
        for k, (edge, each) in enumerate(zip(route.edges, explanation.steps, strict=True)):
            step = each.step
            steps.append(
                {
                    "from": str(step.state),
                    "to": str(step.next_state),
                    "action": None if experience.action is None else str(step.action),
                    "reward": step.reward,
                    "probability": step.probability,
                    "seen": step.seen,
                    "last": None if each.last is None else str(shown_time(each.last)),
                    "old": old is not None and last is not None and old.is_old(int(last[edge])),
                    "trips": [str(trip) for trip in each.trips],
                    "stitch": k > 0 and explanation.is_stitch(k),
                }
            )
        codes = [int(experience.states.find(route.start)), *experience.target[edges].tolist()]
        return {"states": codes, "steps": steps}

    def _gap(self, gap: Gap) -> Json:
        near = None
        if gap.near is not None:
            near = [gap.near.reached, gap.near.reaching]
        elif gap.reverse is not None:
            near = [int(self._experience.target[gap.reverse]), int(self._experience.source[gap.reverse])]
        return {
            "words": gap_sentences(gap, self._experience),
            "ahead": gap.ahead.tolist(),
            "behind": gap.behind.tolist(),
            "near": near,
        }

    def _compared(self, question: Question, chosen: Explanation | FwrlError) -> Json:
        """The route without conditions as a ghost, and the difference in words."""
        plain = self._route(replace(question, via=(), avoid=()))
        if not isinstance(plain, Explanation):
            return {"difference": "Without these conditions no way is known either."}
        ghost = self._steps(plain)["states"]
        if not isinstance(chosen, Explanation):
            return {"ghost": ghost, "difference": f"Without these conditions: {sentence(plain)}."}
        words = difference(plain.route, chosen.route)
        return {"ghost": ghost, "difference": f"Compared with the way without these conditions: {words}."}


def _summary(found: Explanation | FwrlError) -> Json:
    """A route as the comparison of backups shows it."""
    if not isinstance(found, Explanation):
        return {"problem": "no way is known" if isinstance(found, NoRouteError) else str(found)}
    route = found.route
    return {
        "steps": len(route.steps),
        "value": route.value if math.isfinite(route.value) else None,
        "arrival": route.arrival,
        "sentence": sentence(found),
    }
