"""Navigators on OGBench's manipulation tasks: data, evaluation, films, and a page with our numbers and published ones."""
