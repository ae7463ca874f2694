"""Pack the files for the tab's Python, in that same Python, which ``packing.py`` runs under Node.

An archive maps file names to contents: our and the libraries' byte code without docstrings, and the sources that pages
show.
"""

from __future__ import annotations

import importlib.util
import json
import marshal
import re
import sys
from collections.abc import Callable, Collection
from itertools import groupby
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from demo.site import Site

OUT, APP, WHEELS, LAMBDA, LIBRARIES = map(Path, ("/out", "/app", "/wheels", "/lambda", "/libraries"))
STDLIB = f"/lib/python{sys.version_info.major}{sys.version_info.minor}.zip"
ROOTS = tuple(f"{root}/" for root in (STDLIB, APP, WHEELS, LAMBDA, LIBRARIES, OUT))

UNCHECKED = (1).to_bytes(4, "little") + bytes(8)
"""The head of byte code that is never compared with its source: https://peps.python.org/pep-0552/"""
BOOT = ("_pyodide/", "pyodide/")
"""Parts of Python's library that the start needs, besides those used here."""

PATHS = """
    / /deals /deals/1 /categories/shoes /brands /search?q=shoes&sort=price /nothing
    /my/inbox /my/watches /my/status
    /account /account/sign-up
    /search?q=%C3%A9t%C3%A9+%D0%B7%D0%B8%D0%BC%D0%B0+%E5%86%AC
"""
"""Pages whose files are packed; libraries' files only if something uses them."""

_opened: set[str] = set()


def _used() -> set[str]:
    """The files that this Python has opened or imported so far."""
    modules = {str(getattr(each, "__file__", None)) for each in [*sys.modules.values()]}
    return {name for name in _opened | modules if name.startswith(ROOTS[:-1]) and not name.endswith(".pyc")}


def pack() -> None:
    """Write the archives: for Python's start, for the front page, and the rest."""
    boot = _used()
    sys.addaudithook(lambda event, args: _opened.add(str(args[0])) if event == "open" else None)
    from demo import stand_ins

    stand_ins.install()
    from demo import dating
    from demo.site import begun
    from shared import features, hooks

    kept, made = (OUT / "kept.json").read_text(), int((OUT / "made").read_text())
    site = begun("/out/rows.json", "http://127.0.0.1", "/site")
    site.keep(kept)
    dating.counted_anew(dating.moved(json.loads(kept)["items"], 1, made))  # for the first page of another day
    front = site.answer("GET", "/", {})["content"].decode()
    for path in ("/my/status", *re.findall(r'(?:href|src)="/site(/(?:assets|pictures)/[^"]+)"', front)):
        site.answer("GET", path, {})
    first = _used()
    _visit(site)
    import zipfile

    library = {f"{STDLIB}/{name}" for name in zipfile.ZipFile(STDLIB).namelist() if not name.endswith("/")}
    boot |= {name for name in library if name.removeprefix(f"{STDLIB}/").startswith(BOOT)}
    files = [file for part in ("functions", "shared", "web") for file in (APP / part).rglob("*") if file.is_file()]
    of_features = [file for file in (APP / "features").rglob("*") if file.is_file()]
    files += [file for file in of_features if not {*file.parts} & {*features.NOT_DEPLOYED}]
    whole = {str(file) for file in files if file.suffix != ".pyc"}
    first |= {f"{OUT}/kept.json", f"{OUT}/rows.json"}
    boot &= library
    shown = {f"{APP}/{path}" for each in features.roles(hooks.Demo) for path in each.shown()}
    shown |= {name for name in whole if re.match(r"/app/shared/data/.*\.py", name)}
    with zipfile.ZipFile(OUT / "python_stdlib.zip", "w") as archive:
        for name, content in _contents(boot).items():
            archive.writestr(zipfile.ZipInfo(name), content)
    (OUT / "first").write_bytes(marshal.dumps(_contents(first - boot)))
    (OUT / "rest").write_bytes(marshal.dumps(_contents((_used() | whole | library) - first - boot, shown)))


def _visit(site: Site) -> None:
    """Request pages as each of the sample's users, and run the clock's functions and the stream's readers."""
    from shared import features, hooks

    for username in ("member", "editor"):
        cookies = "; ".join(line.partition(";")[0] for line in site.sign_in(username))
        for path in (*PATHS.split(), *(path for each in features.roles(hooks.Demo) for path in each.PACKED)):
            site.answer("GET", path, {"Cookie": cookies})
    for row in site.functions.values():
        importlib.import_module(row["module"])
    site.tick()


def _contents(files: Collection[str], shown: Collection[str] = ()) -> dict[str, bytes]:
    """Files as the tab has them, below one folder."""
    import gzip  # imported late, or it would count as needed by the start
    import zipfile  # the same

    stdlib, found = zipfile.ZipFile(STDLIB), dict[str, bytes]()
    for file in sorted({*files, *shown}):
        root = next(each for each in ROOTS if file.startswith(each))
        inner = file.removeprefix(root)
        content = stdlib.read(inner) if root.startswith(STDLIB) else Path(file).read_bytes()
        if inner == "features/__init__.py":  # a tab has no folder to search
            from shared import features

            content = features.frozen(content.decode()).encode()
        if inner.endswith(".json.gz"):  # botocore's service models
            model = json.loads(gzip.decompress(content), object_hook=_brief)
            found[inner.removesuffix(".gz")] = json.dumps(model, separators=(",", ":")).encode()
        elif file in shown or not inner.endswith((".py", ".pyc")):
            found[inner] = content
        if file in files and inner.endswith(".pyc"):
            found[inner] = content[:16] + marshal.dumps(_stripped(marshal.loads(content[16:])))  # noqa: S302  # Pyodide's own
        elif file in files and inner.endswith(".py"):
            code = compile(content, f"/app/{inner}", "exec", dont_inherit=True, optimize=2)
            code = with_lines(code) if root == f"{APP}/" else _stripped(code)
            name = importlib.util.cache_from_source(inner) if file in shown else f"{inner}c"
            found[name] = importlib.util.MAGIC_NUMBER + UNCHECKED + marshal.dumps(code)
    return found


def _brief(part: dict[str, Any]) -> dict[str, Any]:
    """A part of a service's model without its documentation, which is most of it."""
    return {name: each for name, each in part.items() if not (name == "documentation" and isinstance(each, str))}


def with_lines(code: CodeType) -> CodeType:
    """Our code with the lines of its instructions, for traces of errors, and without their columns."""
    table, line = bytearray(), code.co_firstlineno
    for at, spans in groupby(code.co_lines(), lambda span: span[2]):
        for left in range(sum(end - start for start, end, _ in spans) // 2, 0, -8):
            table.append(0x80 | (15 if at is None else 13) << 3 | min(left, 8) - 1)
            if at is not None:
                table += _varint(at - line << 1 if at >= line else line - at << 1 | 1)
                line = at
    return _with_table(code, bytes(table), with_lines)


def _varint(number: int) -> bytes:
    """A number in groups of six bits, the least first."""
    groups = [number & 63]
    while number := number >> 6:
        groups[-1] |= 64
        groups.append(number & 63)
    return bytes(groups)


def _stripped(code: CodeType) -> CodeType:
    """A library's code without instruction positions, a quarter of the whole, which no page shows.

    Each table entry covers eight instructions without positions:
    https://github.com/python/cpython/blob/3.14/InternalDocs/code_objects.md
    """
    eights, rest = divmod(len(code.co_code) // 2, 8)
    return _with_table(code, b"\xff" * eights + (bytes([0xF8 | rest - 1]) if rest else b""), _stripped)


def _with_table(code: CodeType, positions: bytes, inner: Callable[[CodeType], CodeType]) -> CodeType:
    consts = tuple(inner(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    return code.replace(co_consts=consts, co_linetable=positions)
