"""How kernels are compiled, and how compiled code draws random numbers."""
