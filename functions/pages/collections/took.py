"""The cost of a form or a request of the API, at an address of its own: its writes, and what has followed by now."""

from __future__ import annotations

from shared.errors import NotFound
from shared.html import form_cost, pages
from shared.html.app import Routes
from shared.html.pages import Answer
from shared.html.request import Request

routes = Routes()


@routes.get("/table/took/<trace_id>")
def took(request: Request, trace_id: str) -> Answer:
    """The drawing that is kept under an id, which nobody can guess: so it is for whoever has it."""
    drawn = form_cost.find(trace_id)
    if drawn is None:
        raise NotFound("What a form took is kept for ten minutes, and these are over.")
    return pages.page("collections/took.html", here=request.path, form_cost=drawn)
