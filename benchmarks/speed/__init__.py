"""Speed and memory as ratios measured in one run: absolute times depend on the computer and its load."""
