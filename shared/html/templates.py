"""Templates: Jinja's language, rendered by minijinja (https://docs.rs/minijinja).

Values are escaped, and a name without a value is an error. Its errors print values, so they are never logged whole.
"""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from minijinja import Environment, Markup, load_from_path

from shared.html import links, views
from shared.html.links import base, below, origin
from shared.models.catalog import CATEGORIES

FOLDER = Path(__file__).resolve().parents[2] / "web" / "templates"

_NOT_XML = dict.fromkeys([*range(9), 11, 12, *range(14, 32), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF], "\ufffd")
"""Characters that no XML document holds (https://www.w3.org/TR/xml/#charsets). A pattern would take 8 ms to compile."""


def render(template: str, *, prefix: str | None = None, **values: Any) -> str:
    """The text of a template, whose links have the site's own prefix or the one that is given."""
    return str(_environment(base() if prefix is None else prefix).render_template(template, **values))


@cache
def _environment(prefix: str) -> Environment:
    """The templates, read once for an execution environment; ``prefix`` is the one their links have."""
    environment = Environment(
        loader=load_from_path([FOLDER]),
        undefined_behavior="strict",
        trim_blocks=True,
        lstrip_blocks=True,
        debug=False,
        auto_escape_callback=lambda name: "html" if name.endswith((".html", ".xml")) else False,
    )
    # Addresses are escaped here: the engine writes each slash as a character reference.
    environment.add_global("link", lambda path, **query: _markup(prefix + below(path, query)))
    environment.add_global("absolute", lambda path, **query: _markup(origin() + prefix + below(path, query)))
    environment.add_global("asset", lambda name: _markup(f"{prefix}/assets/{links.served_name(name)}"))
    environment.add_filter("url", _markup)
    environment.add_global("categories", dict(CATEGORIES))
    environment.add_global("currencies", views.currencies)
    environment.add_global("base", prefix)
    return environment


def _markup(address: str) -> Markup:
    return Markup(escape(address))


def xml_text(text: str) -> str:
    """A text of a feed without what no XML document may hold."""
    return text.translate(_NOT_XML)
