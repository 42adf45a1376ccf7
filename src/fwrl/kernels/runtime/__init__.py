"""How kernels are compiled, how they draw random numbers, and when two values tie."""
