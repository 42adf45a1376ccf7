"""The agents that FWRL is compared with: the paper's, and others that can pursue any goal."""
