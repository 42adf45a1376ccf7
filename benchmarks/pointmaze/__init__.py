"""Benchmarks of others, run on navigators: data, evaluation, and a page with the published numbers beside ours."""
