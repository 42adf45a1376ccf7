"""Known edges as a graph: edge stores, heap, shortest paths and their incremental update, reachability."""
