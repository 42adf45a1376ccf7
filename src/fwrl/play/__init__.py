"""The local web page: two agents side by side in one world, learning before your eyes.

The page draws; everything it shows is computed here, by the same compiled agents as everywhere. One websocket per
page carries JSON messages (`messages`) one way and binary frames (`frame`) the other. From the bottom up: `likely`,
`belief`, `pieces`, `curve` and `judge` say what there is to see; a `side` is an agent on its way, an `arena` a world
with two of them, a `session` an arena that plays; a `page` is a session on a websocket, a `hall` what pages share;
`door`, `app` and `server` are the network.
"""

from fwrl.play.limits import Limits
from fwrl.play.server import PORT, serve

__all__ = ["PORT", "Limits", "serve"]
