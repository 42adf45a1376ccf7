"""Navigators on OGBench's point mazes: data, evaluation, and a page with our numbers and the published ones."""
