"""Answers for pages: routes with their evidence, states by name, weak spots; all pages share one planner and its map.

Every answer is made of what can be sent as JSON. States are codes, with their names where people read them.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np

from fwrl.display import counted
from fwrl.errors import FwrlError
from fwrl.planner import Explanation, NoRouteError, Planner
from fwrl.planner.policy import BACKUPS, Backup
from fwrl.planner.route import Route
from fwrl.planner.weak_spots import Gap, bridges, single_trip, state_summary
from fwrl.web.explore.question import Period, Question, closed_roads, to_address
from fwrl.web.explore.state_map import StateMap, state_map
from fwrl.web.explore.words import (
    Recency,
    Unit,
    coverage_sentence,
    cut,
    difference,
    gap_sentences,
    headline,
    moment,
    quantiles_sentence,
    recency_of,
    sentence,
)

FOUND = 12  # states that a search shows
LISTED = 200  # weak spots of a kind that are listed
TRIED, OTHERS = 12, 3  # best paths among which to look for others, and how many are shown
ALIKE = 0.75  # share of steps up to which a route is another one
PLANNED = 500  # places up to which each is planned for where outcomes vary
KEPT = 4  # periods that are kept
Json = dict[str, Any]


class Shown(NamedTuple):
    """Everything a server shows."""

    planner: Planner
    map: StateMap
    recency: Recency | None  # None without times
    file: str
    positions: str | None  # the name of their file, if there is one
    unit: Unit = Unit()
    period: Period = Period()
    dated: bool = False  # whether hours and dates can be chosen, since the log is at hand


class Explorers:
    """Explorers of parts of one log; `refit` reads a part of it; None if you only have the planner."""

    def __init__(self, shown: Shown, refit: Callable[[dict[str, Any]], Planner] | None, limit: float | None) -> None:
        self.whole, self._refit, self._limit = Explorer(shown), refit, limit
        self._kept: OrderedDict[Period, Explorer] = OrderedDict()

    def of(self, period: Period) -> Explorer:
        """The explorer of a period, read from the log when it is first asked for."""
        if not period.options:
            return self.whole
        if period not in self._kept:
            self._kept[period] = self._read(period)
        self._kept.move_to_end(period)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return self._kept[period]

    def _read(self, period: Period) -> Explorer:
        options = period.options
        if self._refit is not None:
            planner = self._refit(options)
        elif set(options) == {"min_trips"}:
            planner = self.whole.shown.planner.with_min_trips(options["min_trips"])
        else:
            raise FwrlError(
                "a planner doesn't keep when each step was made, so it can't be limited to some hours or days; open "
                "the log itself: fwrl explore trips.csv"
            )
        shown, experience = self.whole.shown, planner.experience
        codes = [shown.planner.states.code(label) for label in planner.states]
        where = shown.map.positions[[0 if code is None else code for code in codes]]
        where[[code is None for code in codes]] = np.nan
        drawn = state_map(experience, where, within=shown.map)
        recency = recency_of(experience, self._limit)
        return Explorer(shown._replace(planner=planner, map=drawn, recency=recency, period=period))


class Explorer:
    def __init__(self, shown: Shown) -> None:
        self.shown = shown
        self._planner, self._experience = shown.planner, shown.planner.experience

    @cached_property
    def frame(self) -> bytes:
        return self.shown.map.encode()

    def hello(self) -> Json:
        summary, drawn = self._planner.summary, self.shown.map.drawn
        return {
            "type": "hello",
            "file": self.shown.file,
            "states": summary.states,
            "roads": len(self.shown.map.roads),
            "trips": summary.trips,
            "transitions": summary.transitions,
            "map": self.shown.map.kind,
            "unplaced": int((~np.isfinite(drawn).all(axis=1)).sum()),
            "old": None if self.shown.recency is None else self.shown.recency.words,
            "hours": self._experience.hours,
            "period": self.shown.period._asdict(),
            "dated": self.shown.dated,
        }

    def names(self, codes: list[int]) -> Json:
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
        self._check([state])
        summary = state_summary(self._experience, state)
        return {"type": "state", "code": state, **summary._asdict(), "state": str(summary.state)}

    def answer(self, question: Question) -> Json:
        """The route of a question by both backups, compared with the one without conditions."""
        self._check([code for code in (question.start, question.goal) if code is not None])
        self._check([*question.via, *question.avoid, *(code for road in question.roads for code in road)])
        said: Json = {"type": "answer", "address": self.address(question), **self._question(question)}
        if question.start is None or question.goal is None:
            return said
        found = {backup: self._route(replace(question, backup=backup)) for backup in BACKUPS}
        said["backups"] = {backup: self._summary(found[backup]) for backup in BACKUPS}
        edges = {each.route.edges for each in found.values() if isinstance(each, Explanation)}
        said["same"] = len(edges) == 1
        chosen = found[question.backup]
        plain = self._route(replace(question, via=(), avoid=(), roads=())) if question.conditions else None
        if isinstance(chosen, Explanation):
            before = plain.route if isinstance(plain, Explanation) else None
            cost, aside = headline(chosen.route, self.shown.unit, before, question.conditions)
            said |= {"headline": cost + aside, "aside": aside}
            said["sentence"] = sentence(chosen)
            said["route"] = self._steps(chosen)
        else:
            said["headline"] = f"{cut(said['from'][1])} → {cut(said['to'][1])}: no route"
            said["problem"] = "No route is known." if isinstance(chosen, NoRouteError) else str(chosen)
        if isinstance(chosen, NoRouteError):
            said["gap"] = self._gap(chosen.gap)
        if plain is not None:
            said |= self._compared(plain, chosen, question.conditions)
        return said

    def quantiles(self, question: Question) -> Json:
        """Say what half of the trips and nine in ten cost at most; an empty text where nothing varies."""
        said = {"type": "quantiles", "address": self.address(question), "text": ""}
        unasked = question.start is None or question.goal is None or question.backup == "best"
        if unasked or question.via or question.roads or not self._planner.summary.uncertain:
            return said
        states, avoid = self._planner.states, [self._planner.states[code] for code in question.avoid]
        try:
            ends = states[question.start], states[question.goal]
            half, most = self._planner.cost_quantiles(*ends, (0.5, 0.9), avoid=avoid).quantiles
        except FwrlError:  # no route, or trips too long to simulate
            return said
        return said | {"text": quantiles_sentence(half.cost, most.cost, self.shown.unit)}

    def address(self, question: Question) -> str:
        """The address of a question, with the part of the log that it asks."""
        parts = to_address(question, self._planner), urlencode(self.shown.period.options)
        return "&".join(filter(None, parts))

    def alternatives(self, question: Question) -> Json:
        """Other routes than the best one that differ enough to be worth a look.

        The best paths tell where else to go; where outcomes vary, the cost is that of the plan through a place there.
        """
        said: Json = {"type": "alternatives", "address": self.address(question), "routes": []}
        if question.start is None or question.goal is None or question.via or question.start == question.goal:
            return said
        states, unit = self._planner.states, self.shown.unit
        first = self.explanation(question).route
        closed: Json = {"avoid": [states[code] for code in question.avoid]}
        closed["avoid_roads"] = closed_roads(question, self._planner)
        ends = states[question.start], states[question.goal]
        kept = [first]
        for path in self._planner.alternatives(*ends, TRIED, **closed):
            other, fresh = path, [state for state in path.states if state not in first.states]
            if question.backup == "expected" and fresh:
                other = self._planner.plan(*ends, via=[fresh[len(fresh) // 2]], **closed)
            if len(kept) > OTHERS or any(_alike(other, known) for known in kept):
                continue
            kept.append(other)
            cost, more = unit.headed(0.0 - other.value), first.value - other.value
            same = cost == unit.headed(0.0 - first.value)  # as far as people read it
            said["routes"].append(
                {
                    "states": [states.find(state) for state in other.states],
                    "cost": cost,
                    "more": "about the same" if same else f"{'+' if more >= 0 else '-'}{unit.said(abs(more))}",
                    "steps": len(other.steps),
                }
            )
        return said

    def reach(self, state: int, toward: bool, backup: Backup) -> Json:
        """Return the cost from a state to every place, or back; None without a known route."""
        self._check([state])
        S = len(self._planner.states)
        best = backup == "expected" and not toward and bool(self._planner.summary.uncertain) and S > PLANNED
        ask = self._planner.within if toward else self._planner.reachable
        costs: list[float | None] = [None] * S
        for place in ask(self._planner.states[state], math.inf, "best" if best else backup):
            costs[self._planner.states.find(place.state)] = place.cost
        known = [cost for cost in costs if cost is not None]
        return {
            "type": "reach",
            "state": state,
            "toward": toward,
            "costs": costs,
            "most": max(known),
            "said": [self.shown.unit.headed(max(known) * share / 100) for share in range(101)],
            "note": "at best: with so many places, not each is planned for" if best else "",
        }

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
            avoid_roads=closed_roads(question, self._planner),
            positions=self.shown.map.known_positions,
        )

    def coverage(self) -> Json:
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
        _, first, sizes = np.unique(self.shown.map.part, return_index=True, return_counts=True)
        order = np.argsort(-sizes, kind="stable")[:LISTED]
        return {
            "type": "coverage",
            "sentence": coverage_sentence(len(found), len(ends), len(one_way), trips is not None),
            "trips": trips is not None,
            "bridges": [links.source[found].tolist(), links.target[found].tolist()],
            "counts": {
                "bridges": len(found),
                "dead ends": len(ends),
                "one-way": len(one_way),
                "roads": len(self.shown.map.roads),
                "parts": len(sizes),
            },
            "lists": {
                "least seen": self._least_seen(),
                "parts": [
                    {"from": int(first[k]), "name": f"{counted(int(sizes[k]), 'place')}, such as {name}", "seen": None}
                    for k, (_, name) in zip(order, self._named(first[order].tolist()), strict=True)
                ],
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

    def _least_seen(self) -> list[Json]:
        """The roads seen least often, in either direction."""
        drawn = self.shown.map
        rows = range(len(drawn.roads) - 1, max(-1, len(drawn.roads) - 1 - LISTED), -1)
        ends = drawn.roads[list(rows)].astype(np.int64)
        names = zip(self._named(ends[:, 0].tolist()), self._named(ends[:, 1].tolist()), rows, strict=True)
        return [
            {"from": a, "to": b, "name": f"{one} ↔ {other}", "seen": int(drawn.seen[k])}
            for (a, one), (b, other), k in names
        ]

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
            "roads": [self._named(list(road)) for road in question.roads],
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
        said = self.shown.unit.said
        for k, (edge, each) in enumerate(zip(route.edges, explanation.steps, strict=True)):
            step = each.step
            steps.append(
                {
                    "from": str(step.state),
                    "to": str(step.next_state),
                    "action": None if experience.action is None else str(step.action),
                    "cost": said(0.0 - step.reward),
                    "probability": step.probability,
                    "seen": step.seen,
                    "last": None if each.last is None else moment(each.last),
                    "old": old is not None and last is not None and old.is_old(int(last[edge])),
                    "trips": [str(trip) for trip in each.trips],
                    "stitch": k > 0 and explanation.is_stitch(k),
                    "stretch": each.stretch,
                }
            )
        codes = [int(experience.states.find(route.start)), *experience.target[edges].tolist()]
        stretches = zip(explanation.stretches, explanation.covering, strict=True)
        covering = [{"trip": str(trips[0]) if trips else None, "trips": n} for trips, n in stretches]
        return {"states": codes, "steps": steps, "stretches": covering}

    def _gap(self, gap: Gap) -> Json:
        near = None
        if gap.near is not None:
            near = [gap.near.reached, gap.near.reaching]
        elif gap.reverse is not None:
            near = [int(self._experience.target[gap.reverse]), int(self._experience.source[gap.reverse])]
        part = self.shown.map.part
        a, b = int(part[gap.start]), int(part[gap.goal])
        sizes = None if a == b else (int((part == a).sum()), int((part == b).sum()))
        return {
            "words": gap_sentences(gap, self._experience, sizes),
            "ahead": gap.ahead.tolist(),
            "behind": gap.behind.tolist(),
            "near": near,
        }

    def _compared(self, plain: Explanation | FwrlError, chosen: Explanation | FwrlError, conditions: str) -> Json:
        """The route without conditions as a ghost, and the difference in words."""
        if not isinstance(plain, Explanation):
            return {"conditions": conditions, "difference": f"Without these {conditions} no route is known either."}
        if isinstance(chosen, Explanation):
            words = f"With these {conditions}: {difference(plain.route, chosen.route, self.shown.unit)}."
        else:
            words = f"Without these {conditions}: {''.join(headline(plain.route, self.shown.unit))}."
        same = isinstance(chosen, Explanation) and chosen.route.edges == plain.route.edges
        ghost = {} if same else {"ghost": self._steps(plain)["states"]}
        return {"conditions": conditions, "difference": words, **ghost}

    def _summary(self, found: Explanation | FwrlError) -> Json:
        """A route as the comparison of backups shows it."""
        if not isinstance(found, Explanation):
            return {"problem": "no route is known" if isinstance(found, NoRouteError) else str(found)}
        route = found.route
        return {"steps": len(route.steps), "cost": self.shown.unit.headed(0.0 - route.value), "arrival": route.arrival}


def _alike(one: Route, other: Route) -> bool:
    """Whether two routes share most of their steps."""
    return len(set(one.edges) & set(other.edges)) > ALIKE * len(one.edges)
