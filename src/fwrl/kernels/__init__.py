"""Compiled equations: arrays, scalars and a Generator in, arrays changed in place.

The letters, here and in every kernel:

| letter  | is |
|---------|----|
| S, A    | number of states, of actions |
| s, a, r | a state, an action taken there, the reward of that step |
| t, T    | step of the episode, steps in an episode |
| g       | the goal |
| i, j, k | start, end and way-point of a path, as in the triangle inequality |
| F       | (S, A, S) best known path reward: F[s, a, g] on the way from s, starting with a, to g |
| V       | (S, S) max over a of F, stored goal-major: V[g, s] is the value of s for the goal g; V[g, g] = 0 |
| Q       | action values of Q-learning |
| alpha   | learning rate |
| D       | the worth of never arriving, in prioritised sweeping |
| DG      | (S, A, S) expected number of steps on the way from s, starting with a, to g |
| p, v    | probability of arriving at the goal; expected path reward given arrival |
| pi      | the action of a policy at each state, -1 where it has none |
| e       | an edge: one observed (s, a, s') |

-inf means that no path is known.
"""
