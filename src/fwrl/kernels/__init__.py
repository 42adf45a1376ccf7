"""Compiled equations: arrays, scalars and a Generator in, arrays changed in place.

The paper's own equations are `relaxation` (Algorithm 1), `closure` (the fixed point of the triangle inequality),
`qlearning` and `exploration`. `edges` holds what was observed, `shortest_paths` finds paths on it, and `mdp` plans
where outcomes vary: exactly (`solver`, `answers`), and quickly after every step (`updates`). `jit` says how all of it
is compiled.

The letters, here and in every kernel:

| letter  | meaning |
|---------|---------|
| S, A, E | number of states, of actions, of edges |
| s, a, r | a state, an action taken there, the reward of that step; b is another action |
| t, T    | step of the episode, steps in an episode |
| g       | the goal |
| e       | index of an edge: one observed (s, a, s') |
| x, y    | source and target of an edge x -> y |
| i, j, k | start, end and way-point of a path, as in the triangle inequality; elsewhere positions in an array |
| F       | (S, A, S) best known path reward: F[s, a, g] from s, starting with a, to g |
| V       | (S, S) max over a of F, goal-major: V[g, s] is the value of s for g, V[g, g] = 0; (S,) one row |
| h       | (S,) a potential: h(x) >= r + h(y) for every edge x -> y |
| Q       | action values of Q-learning and of prioritised sweeping |
| DG      | (S, A, S) expected number of steps from s, starting with a, to g |
| alpha   | learning rate |
| D       | value of never arriving, in prioritised sweeping |
| n       | number of observations: n(s, a), n(s, a, s') |
| P       | relative frequency of s' after (s, a): n(s, a, s') / n(s, a) |
| u(n), beta | share of an action's value that is left to what a further try may show, beta / (n + beta) |
| R       | reward promised for an unseen outcome |
| p, v    | probability of arriving at the goal; expected path reward given arrival |
| pi      | (S,) the action of a policy at each state, -1 where it has none |
| rho     | reward per step of an endless episode, and what a step costs beside its reward where that is the objective |
| u       | a uniform random number in [0, 1) |
| N, B, K, M | capacity of a replay ring; number of buckets; trips kept for an edge; moves of trips |

-inf means that no path is known. A scalar that kernels change is an array of shape (1,). Several scalars in one array
have a named index each.
"""
