"""Known edges as a graph: edge stores, heaps, shortest paths, their incremental upkeep, reachability."""
