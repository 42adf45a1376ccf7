"""The tasks of the benchmark, each with a file that keeps its result."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.roads import network, questions, simulation
from benchmarks.roads.network import PLACES, read_network
from benchmarks.roads.questions import QUESTIONS, case_of
from benchmarks.roads.simulation import simulated_day
from benchmarks.running import digest
from fwrl.files import replaced

SEEDS = 3  # days that are logged, one after the other; one more day is only part of the truth
WORLD = digest(Path(network.__file__), Path(simulation.__file__))
ASKED = digest(Path(network.__file__), Path(simulation.__file__), Path(questions.__file__))


def days_folder(out: Path, place: str) -> Path:
    """The folder of a network and its simulated days; other code has another."""
    return out / f"{place}-{WORLD}"


def simulate(out: Path, place: str, seed: int) -> str:
    """Simulate a day, and say so."""
    folder = days_folder(out, place)
    simulated_day(PLACES[place], read_network(PLACES[place], folder), seed, seed < SEEDS, folder)
    return f"{place}, day {seed} simulated"


def answers_file(out: Path, place: str, seed: int, question: str) -> Path:
    """Return the folder for the answers to a question; changed code gets another one."""
    return out / f"{place}-{ASKED}" / f"{question}-{seed}.json"


def ask(out: Path, place: str, seed: int, question: str) -> str:
    """Answer a question, and say so."""
    path = answers_file(out, place, seed, question)
    if not path.exists():
        folder = days_folder(out, place)
        streets = read_network(PLACES[place], folder)
        days = [simulated_day(PLACES[place], streets, k, k < SEEDS, folder) for k in range(SEEDS + 1)]
        found = QUESTIONS[question](case_of(streets, days, seed))
        path.parent.mkdir(parents=True, exist_ok=True)
        with replaced(path) as draft:
            draft.write_text(json.dumps(found), encoding="utf-8")
    return f"{place}, seed {seed}: {question}"
