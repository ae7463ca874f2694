"""``python -m demo.packing`` makes ``build/demo``: the site for a browser's tab, as static files."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import replace
from pathlib import Path
from typing import Any

from PIL import Image

from infra.artifacts.bundling import bundle, digest_of, module_of
from infra.functions import Caller, of_stage, variables
from infra.settings import STAGES, this_machine

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parent.parent
HERE, PARTS, BUILT = ROOT / "demo" / "browser", ROOT / "build" / "demo-parts", ROOT / "build" / "demo"
INSTALLED = ROOT / ".venv-demo"
"""What ``make demo`` installs: Pyodide, and the libraries that are not pure Python for WebAssembly."""
PYODIDE, WHEELS = INSTALLED / "node_modules" / "pyodide", INSTALLED / "site-packages"

STEPS = ("kept", "packed")
"""Functions of ``filling.py``, in their order."""

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".mjs": "text/javascript",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
    ".zip": "application/zip",
}
PACKED = ("pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "first.zip", "rest.zip")
"""Large files, which are compressed here: not every host does."""
OF_PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm")
SHELL = ("index.html", "shell.css", "shell.mjs", "mark.svg", "front.webp", "barlow-condensed.woff2")
SHOWN = (0, 0, 1280, 800)
"""The part of the front page that is shown while the site starts."""
CODE = ("functions", "shared", "demo", "web", "requirements/dev.txt", "requirements/demo.txt")


def rows() -> Json:
    """The functions of the pages and of what follows a write, as the laptop's stage has them, without mail."""
    stage = replace(STAGES["local"], mail=None)
    functions, environment = {}, dict[str, str]()
    for row in of_stage(stage):
        if row.pages is None and row.caller is not Caller.EVENTS:
            continue
        reads = {"filters": row.reads.filters, "batch_size": row.reads.batch_size} if row.reads else None
        module = module_of(row.name)
        functions[row.name] = {"module": module, "pages": row.pages, "reads": reads, "each_minute": row.each_minute}
        environment |= variables(row, stage, "big-time-deals")
    environment |= {"POWERTOOLS_SERVICE_NAME": "tab", "POWERTOOLS_LOG_LEVEL": "ERROR", "LOG_LEVEL": "ERROR"}
    environment.pop("FUNCTION")
    return {"functions": functions, "variables": environment}


def fill() -> None:
    """Fill a table in Pyodide, under Node, and pack what the tab's Python takes. Raises SystemExit where that fails."""
    PARTS.mkdir(parents=True, exist_ok=True)
    (PARTS / "rows.json").write_text(json.dumps(rows()))
    artifact = bundle("full", this_machine()).path
    libraries = sysconfig.get_path("purelib")
    at = {"/app": ROOT, "/lambda": artifact, "/libraries": libraries, "/wheels": WHEELS, "/out": PARTS}
    folders = {name: str(folder) for name, folder in at.items()}
    for step in STEPS:
        command = ["node", str(HERE.parent / "filling.mjs"), str(PYODIDE), step, json.dumps(folders)]
        if subprocess.run(command, check=False).returncode:
            sys.exit("The table of the demo could not be filled: see above.")


def write(to: Path = BUILT) -> None:
    """Write the static files, of which all but the page around the site are in a folder named by their content."""
    own = ("worker.mjs",)
    large = {
        name: (PYODIDE if name in OF_PYODIDE else HERE if name in own else PARTS) / name
        for name in (*OF_PYODIDE, *own, *PACKED)
    }
    contents = {name: file.read_bytes() for name, file in large.items()}
    sizes = {name: len(contents[name]) for name in PACKED if name != "rest.zip"}
    info = json.loads((PYODIDE / "pyodide-lock.json").read_text())["info"]
    given = {"code": digest_of(*CODE), "sizes": sizes, "lock": {"info": info, "packages": {}}}
    module = "".join(f"export const {name} = {json.dumps(value)};\n" for name, value in given.items())
    contents["build.mjs"] = module.encode()
    shell = {name: _shell(name) for name in SHELL}
    build = hashlib.sha256(b"".join([*contents.values(), *shell.values(), _read("sw.js")])).hexdigest()[:12]
    shell["index.html"] = shell["index.html"].replace(b"BUILD", build.encode())
    files = {name: {"type": TYPES[Path(name).suffix], "packed": False} for name in SHELL}
    files |= {f"{build}/{n}": {"type": TYPES[Path(n).suffix], "packed": n in PACKED} for n in contents}
    named = {"BUILD": json.dumps(build), "FILES": json.dumps(files), "SHELL": json.dumps(SHELL)}
    shutil.rmtree(to, ignore_errors=True)
    (to / build).mkdir(parents=True)
    for name, content in shell.items():
        (to / name).write_bytes(content)
    for name, content in contents.items():
        packed = name in PACKED
        (to / build / f"{name}{'.packed' if packed else ''}").write_bytes(
            gzip.compress(content, 9, mtime=0) if packed else content
        )
    worker = _read("sw.js").decode()
    for name, value in named.items():
        worker = worker.replace(f'"{name}"' if name == "BUILD" else name, value, 1)
    (to / "sw.js").write_text(worker)


def _read(name: str) -> bytes:
    return (HERE / name).read_bytes()


def _shell(name: str) -> bytes:
    if name == "front.webp":
        picture = io.BytesIO()
        Image.open(ROOT / "docs" / "pictures" / "front-page.png").convert("RGB").crop(SHOWN).save(
            picture, "WEBP", quality=60
        )
        return picture.getvalue()
    own = HERE / name
    return (own if own.exists() else ROOT / "web" / "assets" / name).read_bytes()


if __name__ == "__main__":
    fill()
    write()
