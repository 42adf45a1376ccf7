"""Planning on counted outcomes: policy iteration, optimism, exploration frontier, prioritised sweeping."""
