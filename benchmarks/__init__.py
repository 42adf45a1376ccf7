"""Measurements and tuning, outside the installed package: run them at the root of the repository.

| run | what it does |
|---|---|
| `make bench`, `python -m benchmarks.speed` | speed and memory, as ratios to what a user would pick instead |
| `python -m benchmarks.scale_model` | what rows, edges and goals cost, and what that says for larger logs |
| `python -m benchmarks.first_minute` | first commands with empty caches, in two source trees |
| `python -m benchmarks.pointmaze` | navigators on OGBench's point mazes |
| `python -m benchmarks.online` | navigators that learn from nothing, against SAC + HER |
| `python -m benchmarks.tune` | settings for the baselines of `fwrl compare` |
"""
