"""Sample logs to try the planner with."""
