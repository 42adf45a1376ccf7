"""Navigators on OGBench's manipulation tasks: data, evaluation, a film, and a page with published numbers."""
