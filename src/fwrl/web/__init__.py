"""The local web page: two agents side by side in one world, learning before your eyes.

The page draws; everything it shows is computed here, by the same compiled agents as everywhere. One websocket per
page carries JSON messages (`messages`) one way and binary frames (`frame`) the other. From the bottom up: `likely`,
`belief`, `pieces`, `curve` and `judge` say what there is to see; the `cast` are those who may take a `side`, which is
an agent on its way; an `arena` is a world with two of them, a `session` an arena that plays. A `steward` does what a
page says, a `page` drives the session and sends frames on its `line`; a `hall` is what pages share, its threads
working by `turns`. `door`, `app` and `server` are the network.
"""

from fwrl.web.limits import Limits
from fwrl.web.server import PORT, serve

__all__ = ["PORT", "Limits", "serve"]
