"""Local web pages: one server, and one package per page above it.

A page draws; everything it shows is computed here, by the same compiled agents as everywhere else. Each open page has
one websocket, which carries JSON messages both ways and binary frames to the browser.

From the bottom up: `limits` bounds what pages may use, `worker` is a thread with a queue, `shared` is the state that
all open pages share, `page` is the websocket of one open page, `messages` parses what a page sends, `origin_guard`
refuses requests of foreign web sites, and `server` serves pages until Ctrl-C. `static` holds the style sheet and the
JavaScript modules that pages share. `play` is the page on which two agents learn side by side, `explore` the map of a
log.
"""

from fwrl.web.limits import Limits
from fwrl.web.page import PageKind
from fwrl.web.server import PORT, serve

__all__ = ["PORT", "Limits", "PageKind", "serve"]
