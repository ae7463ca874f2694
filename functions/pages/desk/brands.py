"""New brands."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from http import HTTPStatus

from functions.pages.desk import deal_form
from functions.pages.desk.editing import desk_page
from shared.api.bodies import NewBrand
from shared.data.catalog import topics
from shared.errors import BrandExists
from shared.html import cookies, forms, pages
from shared.html.app import Routes
from shared.html.form_validation import check
from shared.html.forms import InvalidFields
from shared.html.pages import Answer, Request
from shared.runtime.environment import table
from shared.values import naming

routes = Routes()


@routes.get("/desk/brands")
def brand_form(request: Request) -> Answer:
    cookies.editor_of(request)
    return _brands_page(request, {"name": request.query.get("name", "")})


@routes.post("/desk/brands")
def new_brand(request: Request) -> Answer:
    """A brand under a new name. Similar names are shown first, and a similar name must be confirmed."""
    cookies.editor_of(request)
    typed = forms.read(request.event)
    try:
        name = check(NewBrand, {"name": typed.get("name", "")}).name.strip()
        near = [] if typed.get("sure") == "1" else near_names(name)
        if near:
            return _brands_page(request, typed, near=near, status=HTTPStatus.CONFLICT)
        topics.create_brand(table(), naming.slug(name), name, request.now)
    except InvalidFields as error:
        return _brands_page(request, typed, error.errors)
    except BrandExists:
        return _brands_page(request, typed, {"name": "This brand exists already."}, status=HTTPStatus.CONFLICT)
    return pages.redirect("/desk/brands", said="brand")


def near_names(name: str) -> list[str]:
    """Names of brands that are written almost like this one, without the one itself."""
    known = topics.brand_names(table(), consistent=True)
    asked = deal_form.slug_of(name)
    near = difflib.get_close_matches(asked, known, n=5, cutoff=0.75)
    begins = [slug for slug in known if asked and (slug.startswith(f"{asked}-") or asked.startswith(f"{slug}-"))]
    return [known[slug] for slug in dict.fromkeys((*near, *begins)) if slug != asked][:5]


def _brands_page(
    request: Request,
    typed: Mapping[str, str],
    errors: Mapping[str, str] | None = None,
    *,
    near: Sequence[str] = (),
    status: int | None = None,
) -> Answer:
    names = [{"slug": slug, "name": name} for slug, name in topics.brand_names(table(), consistent=True).items()]
    shown = {"name": typed.get("name", "")}
    return desk_page("desk/brands.html", request, status, typed=shown, errors=errors, near=list(near), names=names)
