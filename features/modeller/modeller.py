"""The page on which a visitor designs a table: a form with the model, and all that follows from it.

The model is in the form, and where scripts run also in the address's fragment. Nothing is stored: *Run* writes to
scratch partitions, which expire in an hour.
"""

from __future__ import annotations

import json
import re
import secrets
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

from features.modeller import engine, exports, findings, naming, parsing, views
from features.modeller.design import READS, WRITES, document
from features.modeller.evaluation import Evaluation, evaluated
from features.modeller.parsing import MOST, Read
from features.scratch import costs
from features.workings import page_cost
from shared.errors import NoSuchPath
from shared.html import forms, pages
from shared.html.pages import Answer, Request, Routes, serve
from shared.http import requests
from shared.runtime.environment import table

FOLDER = Path(__file__).with_name("starts")
MAX_FIELDS = 600
"""Fields of the largest model's form."""

DRAWING = 5
"""What a drawing counts as, in write units: what a tenth of a second of a processor costs. A network may have 1,000 an
hour, less its runs."""

_FIELD = re.compile(r"(entities|indexes|patterns)\.(\d{1,2})\.(\w{1,60})")
routes = Routes()


@cache
def starts() -> Mapping[str, Mapping[str, Any]]:
    """The models to begin with, in their order."""
    found = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in FOLDER.glob("*.json")}
    return dict(sorted(found.items(), key=lambda each: each[1]["place"]))


@routes.get("/model")
def begin(request: Request) -> Answer:
    """The models to begin with, or one of them."""
    name = request.query.get("start")
    if name is None:
        return pages.page("modeller/templates/starts.html", here=request.path, starts=_starts())
    if name not in starts():
        raise NoSuchPath
    return _page(request, parsing.read(starts()[name]), guided="guide" in request.query)


@routes.post("/model")
def draw(request: Request) -> Answer:
    """Draw the model of a form, after what its button does: try a change, undo one, add or remove a row, run."""
    _count(request, DRAWING)
    fields = forms.read(request.event, most=MAX_FIELDS)
    guided = "guide" in fields
    if "open" in fields:
        link = fields.get("link")
        return _page(request, parsing.from_link(link) if link else parsing.from_text(fields.get("model", "")))
    if "undo" in fields:
        return _page(request, parsing.from_link(fields.get("before", "")), by="undone", guided=guided)
    given, before = _document(fields), parsing.from_link(fields["was"]) if fields.get("was") else None
    if before:
        naming.follow(given, before.document)
    found = parsing.read(given)
    if tried := [text for name, text in fields.items() if name in ("try", "try-all")]:
        by = "; ".join(each.title for each in findings.of(found.model) if each.key in tried[0].split("\n"))
        changed = document(findings.tried(found.model, tried[0].split("\n")))
        return _page(request, parsing.read(_with_faults(changed, found)), before, by, guided=guided)
    for kind in MOST:
        if fields.get("add") == kind:
            found = parsing.read({**found.document, kind: [*found.document[kind], naming.new(kind, found.model)]})
    if place := re.fullmatch(r"(entities|indexes|patterns)\.(\d{1,2})", fields.get("remove", "")):
        rows = [row for at, row in enumerate(found.document[place[1]]) if at != int(place[2])]
        found = parsing.read({**found.document, place[1]: rows})
    return _page(request, found, before, runs="run" in fields, guided=guided)


def _with_faults(changed: dict[str, Any], found: Read) -> dict[str, Any]:
    """A changed model with what can't be read as it was written: the change doesn't know it."""
    for kind, at, name in sorted(each.split(".") for each in found.faults if each.count(".") == 2):
        row, rows = found.document[kind][int(at)], changed[kind]
        known = [each for each in rows if each.get("name") == row.get("name") and kind != "patterns" and name != "name"]
        for each in known:
            each[name] = row.get(name, "")
        if not known and row not in rows:
            rows.insert(int(at), row)
    return changed


@routes.post("/model/export", form_page="/model")
def export(request: Request) -> Answer:
    """A file of the model in the form."""
    _count(request, DRAWING)
    fields = forms.read(request.event, most=MAX_FIELDS)
    kind = fields.get("as", "")
    if kind not in exports.KINDS:
        raise NoSuchPath
    name, media_type, text = exports.file(kind, parsing.read(_document(fields)).model)
    saved = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Answer(text, media_type=f"{media_type}; charset=utf-8", headers=saved)


def _count(request: Request, units: int) -> None:
    """Count units for the networks of a request. Raises SlowDown."""
    costs.spend(table(), requests.address(request.event), units, request.now, page_cost.trace())


def _document(fields: Mapping[str, str]) -> dict[str, Any]:
    """The JSON of a form's fields: ``patterns.2.key`` is the key condition of the third pattern."""
    rows: dict[str, dict[int, dict[str, Any]]] = {kind: {} for kind in MOST}
    for name, text in fields.items():
        if (found := _FIELD.fullmatch(name)) and text.strip():
            rows[found[1]].setdefault(int(found[2]), {})[found[3]] = _typed(found[3], text.replace("\r\n", "\n"))
    numbered = {kind: [rows[kind][at] for at in sorted(rows[kind])] for kind in MOST}
    peak = fields.get("peak", "1").strip()
    whole = json.loads(peak) if re.fullmatch(r"[1-9]\d{0,3}(\.\d+)?", peak) else peak
    return {"name": fields.get("name", "").strip(), "peak": whole, **numbered}


def _typed(name: str, text: str) -> Any:
    if name == "attributes":
        pairs = [line.partition(":") for line in text.splitlines() if line.strip()]
        return {attribute.strip(): spec.strip() for attribute, _, spec in pairs}
    if name == "writes":
        return [line.strip() for line in text.splitlines() if line.strip()]
    return True if name == "consistent" else text.strip()


def _page(
    request: Request, found: Read, before: Read | None = None, by: str = "", *, runs: bool = False, guided: bool = False
) -> Answer:
    """The page of a model, with what it costs more than the one ``before`` it, ``by`` what was changed."""
    if before and before.document == found.document:
        before = None
    by = by or (views.differing(before.document, found.document) if before else "")
    now = evaluated(found.model)
    outcomes = _run(request, now) if runs else []
    return pages.page(
        "modeller/templates/model.html",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if found.faults else HTTPStatus.OK,
        here=request.path,
        doc={kind: [defaultdict(str, row) for row in found.document[kind]] for kind in MOST},
        own_name=found.document.get("name", ""),
        name=found.model.name,
        peak=found.document.get("peak", 1),
        indexes=[each.name for each in found.model.indexes],
        operations=(*READS, *WRITES),
        writes=WRITES,
        faults=found.faults,
        link_of=parsing.packed(found.document),
        before=parsing.packed(before.document) if before else "",
        by=by,
        guided=guided,
        most=MOST,
        kinds={"json": "JSON", "workbench": "NoSQL Workbench", "cdk": "CDK, Python", "keys": "Keys, Python"},
        drawn=[] if outcomes else engine.drawn(now),
        outcomes=outcomes,
        starts=_starts(),
        **views.shown(found.model, before.model if before else None),
    )  # fmt: skip


def _starts() -> list[dict[str, Any]]:
    return [{"slug": name, **each} for name, each in starts().items()]


def _run(request: Request, now: Evaluation) -> list[engine.Outcome]:
    """Send a model's requests, after counting what they write for the networks of the request."""
    visitor, run_id = secrets.token_urlsafe(9), secrets.token_hex(4)
    plan = engine.planned(now, visitor, run_id, request.now)
    if units := sum(each.most for each in plan if not each.why):
        _count(request, units)
    return engine.run(table(), plan, visitor, run_id, request.now, page_cost.trace())


handler = serve(routes, guards=[forms.ours_only])
