"""Fills the table that the tab begins with, in the very Python that the tab runs, under Node (``filling.mjs``).

It also notes which files that takes, and writes them as archives of byte code: ``packing.py`` starts it twice.
"""

from __future__ import annotations

import importlib.util
import json
import py_compile
import re
import sys
import zipfile
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from demo.site import Site
    from shared.s3 import Bucket

OUT, APP, WHEELS, LAMBDA, LIBRARIES = map(Path, ("/out", "/app", "/wheels", "/lambda", "/libraries"))
ROOTS = (APP, WHEELS, LAMBDA, LIBRARIES)
STDLIB = f"/lib/python{sys.version_info.major}{sys.version_info.minor}.zip"

WHOLE = ("shared", "functions", "web", "demo")
"""Folders of ours that are packed whole, whatever is used."""

UNUSED = tuple(
    f"{STDLIB}/{name}"
    for name in [
        "_pydatetime",
        "_pyio",
        "_pyrepl",
        "_sysconfigdata",
        "bdb",
        "ctypes",
        "doctest",
        "encodings/",
        "ftplib",
        "imaplib",
        "mailbox",
        "multiprocessing",
        "optparse",
        "pdb",
        "pickletools",
        "plistlib",
        "profile",
        "pstats",
        "pydoc",
        "smtplib",
        "statistics",
        "tarfile",
        "trace",
        "unittest",
        "wave",
        "wsgiref",
        "xml/dom",
        "xml/sax",
        "xmlrpc",
        "zipapp",
    ]
)
"""Large parts of Python's library that stay away, unless something is seen to need them."""

PATHS = (
    *(
        "/",
        "/deals",
        "/deals/1",
        "/categories/shoes",
        "/brands",
        "/search?q=shoes&sort=price",
        "/popular",
        "/feed.atom",
    ),
    *("/go/1", "/nothing", "/learn", "/learn/item-collection", "/table", "/my/inbox", "/my/saved", "/my/watches"),
    *("/shop", "/shop/cart", "/account", "/account/sign-up", "/desk", "/desk/deals/new", "/desk/shop", "/desk/brands"),
)
"""Pages whose files are noted."""


def fill(site: Site) -> None:
    """Fill a new site's table with the seeds, two accounts and the sample, and build the copies of pages behind it."""
    from local import sample
    from shared.data.catalog import seeds
    from shared.data.members import users
    from shared.models.members import User
    from shared.runtime import environment
    from shared.values import times
    from shared.values.passwords import hash_password

    table, now = environment.table(), times.now()
    seeds.plant(table, now)
    users.create(table, User("member", "member@example.com", "Member", hash_password("member"), "member", now))
    users.create(table, User("editor", "editor@example.com", "Editor", hash_password("editor"), "editor", now))
    sample.plant(table, now, "member", cast("Bucket", site.files))
    site.follow()
    site.tick()
    site.changes()


def begin() -> Site:
    """A site without a table's contents."""
    from demo import stand_ins

    stand_ins.install()
    from demo.site import Site

    return Site(json.loads((OUT / "rows.json").read_text()), "http://127.0.0.1", "/site")


def kept() -> None:
    """Write the filled table as ``kept.json``, and what all pages import as ``used.json``."""
    used = Used()
    site = begin()
    fill(site)
    (OUT / "kept.json").write_text(site.kept())
    for username in ("member", "editor"):
        cookies = "; ".join(line.partition(";")[0] for line in site.sign_in(username))
        for path in PATHS:
            site.answer("GET", path, {"Cookie": cookies})
    (OUT / "used.json").write_text(json.dumps(sorted(used.now())))


def packed() -> None:
    """Write the archives: what the first page takes, in two, as Python finds its own library in one; and the rest."""
    used = Used()
    site = begin()
    site.keep((OUT / "kept.json").read_text())
    front = site.answer("GET", "/", {})["content"].decode()
    for path in ("/my/status", *re.findall(r'(?:href|src)="/site(/(?:assets|pictures)/[^"]+)"', front)):
        site.answer("GET", path, {})
    first = used.now()
    library = {f"{STDLIB}/{name}" for name in zipfile.ZipFile(STDLIB).namelist() if not name.endswith("/")}
    whole = {str(file) for part in WHOLE for file in (APP / part).rglob("*") if file.is_file()}
    others = {name for name in library if not name.startswith(UNUSED)}
    every = {*json.loads((OUT / "used.json").read_text()), *whole, *others}
    early = {name for name in library if name.startswith((f"{STDLIB}/pyodide/", f"{STDLIB}/_pyodide/"))}
    web = {name for name in whole if name.startswith(f"{APP}/web/")}
    from shared.learn import lessons

    shown = {f"{APP}/{code.path}" for lesson in lessons.by_slug().values() for code in lesson.code}
    shown |= {name for name in whole if name.startswith(f"{APP}/shared/data/") and name.endswith(".py")}
    _write("python_stdlib.zip", (first & library) | early)
    _write("first.zip", (first - library) | web | {str(OUT / "kept.json"), str(OUT / "rows.json")})
    _write("rest.zip", every - first - early - web, shown)


class Used:
    """The files that this Python opens from now on, and the modules that it has."""

    def __init__(self) -> None:
        self.opened: set[str] = set()
        sys.addaudithook(self._note)

    def _note(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(args[0], str):
            self.opened.add(args[0])

    def now(self) -> set[str]:
        """Their names."""
        modules = {str(getattr(each, "__file__", None)) for each in [*sys.modules.values()]}
        roots = (f"{STDLIB}/", *(f"{root}/" for root in ROOTS))
        return {name for name in self.opened | modules if name.startswith(roots) and not name.endswith(".pyc")}


def _write(name: str, files: Iterable[str], shown: Collection[str] = ()) -> None:
    """Write some files as the tab has them: below one folder, Python as byte code, and the sources that are ``shown``.

    They are compressed as one, later.
    """
    stdlib = zipfile.ZipFile(STDLIB)
    with zipfile.ZipFile(OUT / name, "w") as archive:
        for file in sorted({*files, *shown}):
            root = next(each for each in (STDLIB, *map(str, (OUT, *ROOTS))) if file.startswith(f"{each}/"))
            inner = file.removeprefix(f"{root}/")
            content = stdlib.read(inner) if root == STDLIB else Path(file).read_bytes()
            if file in shown or not inner.endswith(".py"):
                archive.writestr(zipfile.ZipInfo(inner), content)
            if file in files and inner.endswith(".py"):
                source, compiled = Path("/tmp/source.py"), Path("/tmp/code.pyc")  # noqa: S108  # the tab's own
                source.write_bytes(content)
                py_compile.compile(
                    str(source),
                    str(compiled),
                    f"/app/{inner}",
                    doraise=True,
                    optimize=2,  # without docstrings, which nobody reads here: a fifth of the whole
                    invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
                )
                at = importlib.util.cache_from_source(inner) if file in shown else f"{inner}c"
                archive.writestr(zipfile.ZipInfo(at), compiled.read_bytes())
