"""Floyd-Warshall Reinforcement Learning."""
