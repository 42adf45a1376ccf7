"""A log of flights between American airports, from the package `bokeh_sampledata`: `python -m fwrl.samples.flights`.

The package has two tables in the public domain: which airline flew between which airports (U.S. Bureau of
Transportation Statistics, flights completed in one month), and where airports are (OurAirports). We join them into one
row per airline and pair of airports, with the coordinates of both and the distance in kilometres. Airports beyond the
date line are left out, because a map drawn from coordinates would be torn there.
"""

from __future__ import annotations

import csv
import gzip
import importlib.util
import math
from pathlib import Path

from fwrl.errors import FwrlError
from fwrl.files import replaced
from fwrl.samples.command import run_sample

PACKAGE = "bokeh_sampledata"
COLUMNS = ("airline", "origin", "destination", "origin_lat", "origin_lon", "destination_lat", "destination_lon", "km")
EARTH = 6371.0  # kilometres


def write_flights(path: str | Path) -> None:
    """Write the log of flights to a CSV file."""
    folder = _data_folder()
    with (folder / "airports.csv").open(encoding="utf-8", newline="") as file:
        airports = {row["IATA"]: (float(row["Latitude"]), float(row["Longitude"])) for row in csv.DictReader(file)}
    with gzip.open(folder / "routes.csv.gz", "rt", encoding="utf-8", newline="") as routes:
        flights = [(row["Airline"], row["Source"], row["Destination"]) for row in csv.DictReader(routes)]
    with replaced(Path(path)) as draft, draft.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for airline, origin, destination in sorted(flights):
            ends = airports[origin], airports[destination]
            if max(longitude for _, longitude in ends) > 0:
                continue
            writer.writerow([airline, origin, destination, *ends[0], *ends[1], round(_distance(*ends))])


def _distance(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return kilometres along the great circle, from the chord between two points on the unit sphere."""
    return 2 * EARTH * math.asin(min(1.0, math.dist(_on_sphere(*one), _on_sphere(*other)) / 2))


def _on_sphere(latitude: float, longitude: float) -> tuple[float, float, float]:
    lat, lon = math.radians(latitude), math.radians(longitude)
    return math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat)


def _data_folder() -> Path:
    """Find the folder of the package's tables without importing the package, which needs other packages."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise FwrlError(f"the log of flights comes with {PACKAGE}; install it with: pip install {PACKAGE}")
    return Path(found.origin).parent / "_data"


if __name__ == "__main__":
    run_sample(write_flights, "fwrl.samples.flights", "FILE.csv")
