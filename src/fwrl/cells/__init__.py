"""Cells: continuous coordinates as states.

A navigator is a planner for continuous worlds. `fitted` divides the space that data have visited into cells, `windows`
cuts episodes into transitions of k steps, `motion` is a linear model from actions to displacements, `action_labels`
turns the actions of a window into one of a few, `transitions` counts them, and `navigator` plans on the counts and
acts.
"""
