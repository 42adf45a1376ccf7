"""Success rates published for OGBench's point mazes, in percent (Park et al., OGBench, 2025)."""

from __future__ import annotations

METHODS = ("GCBC", "GCIVL", "GCIQL", "QRL", "CRL", "HIQL")
SUCCESS: dict[str, tuple[int, ...]] = {
    "medium-stitch": (23, 70, 21, 80, 0, 74),
    "large-stitch": (7, 12, 31, 84, 0, 13),
    "giant-stitch": (0, 0, 0, 50, 0, 0),
    "teleport-stitch": (31, 44, 25, 9, 4, 34),
    "medium-navigate": (9, 63, 53, 82, 29, 79),
    "large-navigate": (29, 45, 34, 86, 39, 58),
    "giant-navigate": (1, 0, 0, 68, 27, 46),
}
