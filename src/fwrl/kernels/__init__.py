"""Compiled equations: arrays, scalars and a Generator in, arrays changed in place.

The paper's own equations are `relaxation` (Algorithm 1), `closure` (the fixed point of the triangle inequality),
`qlearning` and `exploration`. `edges` stores observations, `shortest_paths` finds paths on them, and `mdp` plans with
random outcomes: exactly (`solver`, `answers`), and quickly after every step (`updates`). `jit` compiles all of it.

Letters, here and in every kernel:

| letter  | meaning |
|---------|---------|
| S, A, E | number of states, of actions, of edges |
| s, a, r | a state, an action taken there, the reward of that step; b is another action |
| t, T    | step of the episode, steps in an episode |
| g       | the goal |
| e       | index of an edge: one observed (s, a, s') |
| x, y    | source and target of an edge x -> y |
| i, j, k | start, end and waypoint of a path, as in the triangle inequality; elsewhere positions in an array |
| F       | (S, A, S) best known path reward: F[s, a, g] from s, starting with a, to g |
| V       | (S, S) max over a of F, goal-major: V[g, s] is the value of s for g, V[g, g] = 0; (S,) one row |
| h       | (S,) a potential: h(x) >= r + h(y) for every edge x -> y |
| Q       | action values of Q-learning and of prioritised sweeping |
| DG      | (S, A, S) expected number of steps from s, starting with a, to g |
| alpha   | learning rate |
| D       | value of never arriving, in prioritised sweeping |
| n       | number of observations: n(s, a), n(s, a, s') |
| P       | relative frequency of s' after (s, a): n(s, a, s') / n(s, a) |
| u(n), beta | share of an action's value given to the unseen outcome of a further try, beta / (n + beta) |
| R       | assumed reward of an unseen outcome |
| p, v    | probability of arriving at the goal; expected path reward given arrival |
| pi      | (S,) the action of a policy at each state, -1 for none |
| rho     | reward per step of an endless episode; with that objective, a step's cost on top of its reward |
| u       | a uniform random number in [0, 1) |
| N, B, K, M | capacity of a replay ring; number of buckets; trips kept for an edge; moves of trips |

-inf means that no path is known. A scalar that kernels change is an array of shape (1,). Several scalars in one array
have a named index each.
"""
