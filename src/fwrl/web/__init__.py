"""Local web pages: a server, and one package per kind of page above it.

A page draws; everything it shows is computed here, by the same compiled agents as everywhere else. Each open page has
one websocket, which carries JSON messages both ways and binary frames to the browser.

From the bottom up: `shared` has what all open pages share, and bounds what they may use; `messages` parses what a page
sends, `page` is the websocket of one open page, `origin_guard` refuses requests of foreign web sites, and `server`
serves pages until Ctrl-C. `static` holds the style sheet and the JavaScript modules that pages share. `play` is the
page on which two agents learn side by side, `explore` the map of a log.
"""

from fwrl.web.page import PageKind
from fwrl.web.server import PORT, serve
from fwrl.web.shared import Limits

__all__ = ["PORT", "Limits", "PageKind", "serve"]
