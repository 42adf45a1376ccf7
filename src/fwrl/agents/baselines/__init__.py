"""The agents that FWRL is compared with: those of the paper, and others that can pursue any goal."""
