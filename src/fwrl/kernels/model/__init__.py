"""Counted outcomes and planning on them: policy iteration, optimism, frontier, sweeping; replay; greedy actions."""
