"""Navigators: planners for continuous worlds.

`fitted` divides the visited part of the space into cells, `windows` cuts episodes into transitions of k steps, `motion`
is a linear model from actions to displacements, `action_labels` maps the actions of a window to one of a few labels,
`transitions` counts them, and `navigator` plans on the counts and acts. `confidence` says how well the data support a
plan.

With a hand, `poses` says which coordinates are whose, `attachment` how a thing hangs on the hand, `nested_cells` and
`hand_graph` what the hand did near things and switches, `moves` and `operators` in which order; `hand_navigator` acts.
"""
