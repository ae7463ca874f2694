"""The cost of a form or a request of the API at an address of its own, and a walk of five steps, on the laptop, from a
deal that one posts to what the table and its stream make of it."""

from __future__ import annotations

from shared.data import item_types, keys
from shared.errors import NoSuchPath, NotFound
from shared.html import form_cost, pages
from shared.html.app import Routes
from shared.html.links import link
from shared.html.pages import Answer
from shared.html.request import Request
from shared.http.requests import on_laptop

A_DEAL = {"link": "https://shop.example/trail-shoe", "title": "A trail shoe", "price": "59.90", "list": "89.90"}
"""The values in the form of the first step, by the names that a bookmark of the desk uses, too."""

routes = Routes()


@routes.get("/table/took/<trace_id>")
def took(request: Request, trace_id: str) -> Answer:
    """The drawing stored under an id. The id cannot be guessed, so it is the only permission needed."""
    drawn = form_cost.find(trace_id)
    if drawn is None:
        raise NotFound("This is gone: what a form took is kept for ten minutes.")
    return pages.page("collections/took.html", here=request.path, form_cost=drawn)


@routes.get("/table/walk", "/table/walk/<trace_id>")
def walk(request: Request, trace_id: str = "") -> Answer:
    """The steps. With the id of what posting a deal took, those after the first lead to that deal, while it is kept."""
    if not on_laptop():
        raise NoSuchPath
    drawn = form_cost.find(trace_id) or {"records": []}
    posted = next((record for record in drawn["records"] if record["type"] == item_types.DEAL), None)
    found = (
        {
            "key": posted["key"],
            "took": link(f"/table/took/{trace_id}"),
            "collection": f"{posted['link']}&{form_cost.QUERY}={trace_id}",
            "edit": link(f"/desk/deals/{keys.id_in(posted['partition'])}"),
        }
        if posted
        else None
    )
    return pages.page("collections/walk.html", here=request.path, form=link("/desk/deals/new", **A_DEAL), posted=found)
