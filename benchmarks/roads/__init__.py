"""Routes from simulated trips on real streets, where the true travel time of every street is known."""
