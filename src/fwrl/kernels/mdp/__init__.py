"""Planning under uncertainty on counted transitions: exact answers for one goal, and a plan that's kept current."""
