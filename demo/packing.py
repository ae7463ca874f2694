"""``python -m demo.packing`` makes ``build/demo``: the site for a browser tab, as static files."""

from __future__ import annotations

import gzip
import hashlib
import html
import io
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from PIL import Image

from demo import corrections
from demo.site import Site
from demo.stand_ins import SaltedHasher
from functions.background import refresher
from infra.bundling import bundle, digest_of, module_of
from infra.functions import of_stage, variables
from infra.rows import Caller
from infra.settings import STAGES
from infra.stage import this_machine
from local import sample
from shared import features, hooks
from shared.data.catalog import page_cache, topics
from shared.data.members import users
from shared.dynamodb.schema import TTL_ATTRIBUTE
from shared.models.members import User
from shared.runtime import environment
from shared.values import times

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parent.parent
HERE, PARTS, BUILT = ROOT / "demo" / "browser", ROOT / "build" / "demo-parts", ROOT / "build" / "demo"
INSTALLED = ROOT / ".venv-demo"
"""``make demo`` installs this: Pyodide, and WebAssembly wheels of libraries that aren't pure Python."""
PYODIDE, WHEELS = INSTALLED / "node_modules" / "pyodide", INSTALLED / "site-packages"

PACKED = {
    "pyodide.asm.mjs": "text/javascript",
    "pyodide.asm.wasm": "application/wasm",
    "python_stdlib.zip": "application/zip",
    "first": "application/octet-stream",
    "rest": "application/octet-stream",
}
"""Large files with their types. They are compressed here, as not every host does; the service worker unpacks them."""
SHELL = ("index.html", "shell.css", "shell.mjs", "mark.svg", "front.webp", "barlow-condensed.woff2")
DAY = timedelta(days=1)
SHOWN = 800
"""The most lines of the front page's picture, which is shown while the site starts."""
CODE = (
    *("functions", "shared", "features", "demo", "web"),
    *("local/event_source.py", "requirements/dev.txt", "requirements/demo.txt"),
)


def rows() -> Json:
    """The rows of the pages' functions and of those that follow writes, as on the laptop's stage, without features'
    options, and of pages that only the demo has."""
    stage = replace(STAGES["local"], options=())
    functions, environment = {}, dict[str, str]()
    for row in of_stage(stage):
        if row.pages is None and row.caller is not Caller.EVENTS:
            continue
        reads = {"filters": row.reads.filters, "batch_size": row.reads.batch_size} if row.reads else None
        module = module_of(row.name)
        functions[row.name] = {"module": module, "pages": row.pages, "reads": reads, "each_minute": row.each_minute}
        environment |= variables(row, stage, "big-time-deals")
    for each in features.roles(hooks.Demo):
        for pages, module in each.PAGES.items():
            functions[module] = {"module": module, "pages": pages, "reads": None, "each_minute": False}
    environment |= {"POWERTOOLS_SERVICE_NAME": "tab", "POWERTOOLS_LOG_LEVEL": "ERROR", "LOG_LEVEL": "ERROR"}
    environment.pop("FUNCTION")
    return {"functions": functions, "variables": environment}


def fill(site: Site) -> datetime:
    """Fill a new site's table as the tab has it: with the sample, and the first page's copies alone. Returns the
    sample's time."""
    now = plant(site)
    _forget(site, now + DAY)
    _copy_first_page(now)
    site.follow()
    site.changes()
    return now


def plant(site: Site) -> datetime:
    """Fill a new site's table with the seeds, two accounts and the sample, and let the functions that follow writes and
    the clock run. Returns the sample's time."""
    table, now = environment.table(), times.now()
    topics.plant_seeds(table, now)
    for name in ("member", "editor"):
        users.create(table, User(name, f"{name}@example.com", name.title(), SaltedHasher().hash(name), name, now))
    sample.plant(table, now, "member", lambda *_: site.files)
    site.follow()
    site.tick()
    return now


def _forget(site: Site, until: datetime) -> None:
    """Remove what ends within a day: nobody opens the demo that soon."""
    for item in list(site.moto.all_items()):
        if TTL_ATTRIBUTE in item.attrs and float(item.attrs[TTL_ATTRIBUTE].value) <= until.timestamp():
            corrections.place(site.moto, item.hash_key, item.range_key, None)


def _copy_first_page(now: datetime) -> None:
    """Build the first page's copies as they are in a day: nothing on them ends before. The clock makes all others in
    the first minute."""
    for part in (page_cache.FRONT_PAGE_PICKS, page_cache.NEWEST):
        copy = refresher.as_html(refresher.build(part, (), now + DAY))
        page_cache.write(environment.table(), part, copy, began=now, expires=now + DAY, form=page_cache.HTML)


def pack() -> None:
    """Write the parts: the filled table, and the archives for the tab's Python. Raises SystemExit on failure."""
    PARTS.mkdir(parents=True, exist_ok=True)
    site = Site(rows(), "http://127.0.0.1", "/site")
    (PARTS / "made").write_text(str(int(fill(site).timestamp())))
    (PARTS / "kept.json").write_text(site.kept())
    (PARTS / "rows.json").write_text(json.dumps(rows()))
    at = {"/app": ROOT, "/lambda": bundle("full", this_machine()).path, "/libraries": sysconfig.get_path("purelib")}
    folders = {name: str(folder) for name, folder in {**at, "/wheels": WHEELS, "/out": PARTS}.items()}
    command = ["node", str(ROOT / "demo" / "archives.mjs"), str(PYODIDE), json.dumps(folders)]
    if subprocess.run(command, check=False).returncode:
        sys.exit("The demo could not be packed: see above.")


def write(to: Path = BUILT) -> None:
    """Write the static files. All but the page around the site are in a folder named by their content."""
    info = json.loads((PYODIDE / "pyodide-lock.json").read_text())["info"]
    large = {name: ((PYODIDE if name.startswith("pyodide") else PARTS) / name).read_bytes() for name in PACKED}
    sizes = {name: len(content) for name, content in large.items() if name != "rest"}
    made = int((PARTS / "made").read_text())
    code, given = digest_of(*CODE), {"sizes": sizes, "lock": {"info": info, "packages": {}}, "made": made}
    contents = {
        "build.mjs": "".join(f"export const {n} = {json.dumps(value)};\n" for n, value in given.items()).encode(),
        "worker.mjs": (HERE / "worker.mjs").read_bytes(),
        "pyodide.mjs": (PYODIDE / "pyodide.mjs").read_bytes(),
        "pyodide.asm.wasm": large["pyodide.asm.wasm"],
        **{f"{name}.packed": gzip.compress(content, 9, mtime=0) for name, content in large.items()},
    }
    shell, worker = {name: _shell(name) for name in SHELL}, (HERE / "sw.js").read_bytes()
    build = hashlib.sha256(b"".join([code.encode(), *contents.values(), *shell.values(), worker])).hexdigest()[:12]
    for mark, text in {
        "BUILD": build,
        "CODE": code,
        "LINKS": _links(),
        "TOOLS": _tools(),
        "EDITORS": _editors(),
    }.items():
        shell["index.html"] = shell["index.html"].replace(mark.encode(), text.encode())
    files = dict.fromkeys(SHELL, "") | {f"{build}/{name.removesuffix('.packed')}": "" for name in contents}
    files |= {f"{build}/{name}": kind for name, kind in PACKED.items()}
    for name, value in {'"BUILD"': build, "FILES": files, "SHELL": SHELL}.items():
        worker = worker.replace(name.encode(), json.dumps(value).encode(), 1)
    shutil.rmtree(to, ignore_errors=True)
    (to / build).mkdir(parents=True)
    for name, content in {**shell, "sw.js": worker, **{f"{build}/{n}": each for n, each in contents.items()}}.items():
        (to / name).write_bytes(content)


def _links() -> str:
    """Links to the documents and to the code, if a workflow of the repository publishes them beside the demo."""
    if not (repository := os.environ.get("GITHUB_REPOSITORY")):
        return ""
    code = f"{os.environ['GITHUB_SERVER_URL']}/{repository}"
    return f' <a href="../">Read the documentation</a> or <a href="{code}">get the code</a>.'


def _editors() -> str:
    """The page that an editor's button leads to."""
    links = [link for each in features.roles(hooks.Navigation) for link in each.TABS.get("editors", ())]
    return links[0][0] if links else "/"


def _tools() -> str:
    """Buttons for the features' own pages of the demo."""
    links = [link for each in features.roles(hooks.Demo) for link in each.LINKS]
    return "\n".join(f'<button type="button" data-to="{path}">{html.escape(name)}</button>' for path, name in links)


def _shell(name: str) -> bytes:
    if name == "front.webp":
        picture = io.BytesIO()
        whole = Image.open(ROOT / "docs" / "pictures" / "front-page.png").convert("RGB")
        cut = whole.crop((0, 0, whole.width, min(whole.height, SHOWN)))
        cut.thumbnail((960, 960))  # as wide as the page shows it
        cut.save(picture, "WEBP", quality=45)
        return picture.getvalue()
    own = HERE / name
    return (own if own.exists() else ROOT / "web" / "assets" / name).read_bytes()


if __name__ == "__main__":
    pack()
    write()
