"""Agents: they know only integers.

>>> agent = make_agent("fwrl", n_states=3, n_actions=2, seed=0)
>>> agent.observe_many([0, 1], [1, 0], [-1.0, -1.0], [1, 2])
>>> agent.action_values(0, 2)
array([-inf,  -2.])
"""

from fwrl.agents.registry import agent_class, agent_names, load, make_agent, register_agent

__all__ = ["agent_class", "agent_names", "load", "make_agent", "register_agent"]
