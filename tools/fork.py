"""A copy of this project without some of its features: ``make fork WITHOUT="textbook" TO=../mine``.

The files of those features (``shared/features.py``) are left out, and their records. Of the other files, the code names
no feature, so it stays as it is. Tests and documents do name them. A test that imports something that is gone is left
out, and one that is marked with ``@pytest.mark.needs``. So is an entry of a list in tests that names a path, a file, a
module or a function that is gone, or calls what is gone; and in documents a paragraph, an item of a list or a row of a
table that links to a file that is gone, or names it, its feature or its command in code type, and what is between
``<!-- NAME -->`` and ``<!-- end -->``; in TOML what is between lines ``# NAME`` and ``# end``. What is generated is
generated again.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path, PurePosixPath

from shared.features import FEATURES, Feature, owns

ROOT = Path(__file__).resolve().parent.parent

GENERATORS = ("tools.workbench", "functions.api.openapi", "tests.test_texts", "tools.links")
"""Modules that write files of the repository from others."""

_ITEM = re.compile(r"(- |\* |\d+\. |\|)")
_LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+(?:#[^)\s]+)?)")
_HEADING = re.compile(r"^(#+) (.+)\n", re.MULTILINE)
_WORD = re.compile(r"\w+")
_PATH = re.compile(r"`([\w./-]+)`")


class Impossible(Exception):
    """The copy cannot be made as asked, for the reason that the message gives."""


@dataclass(frozen=True, slots=True)
class Gone:
    """The parts that a copy lacks: files, by their paths; modules; features; ``places``, which are files and folders;
    what the ``paths`` of pages begin with; and other names."""

    files: frozenset[str]
    modules: frozenset[str]
    features: frozenset[str]
    places: frozenset[str]
    paths: tuple[str, ...]
    names: frozenset[str]

    @classmethod
    def of(cls, features: Sequence[Feature], tracked: Iterable[str]) -> Gone:
        """The parts of some features."""
        files = frozenset(path for path in tracked if any(owns(each, path) for each in features))
        modules = set(map(_module, files))
        return cls(
            files,
            frozenset(modules),
            frozenset(each.name for each in features),
            files | frozenset(own for each in features for own in each.owns.split()),
            tuple(chain.from_iterable(each.routes for each in features)),
            frozenset(PurePosixPath(path).name for path in files if path.startswith("web/assets/"))
            | frozenset(chain.from_iterable(each.named for each in features)),
        )

    def has(self, text: str) -> bool:
        """Whether a text names something that is gone."""
        return text in self.names | self.files | self.modules or any(
            text == path or text.startswith((f"{path}/", f"{path}?", f"{path}#")) for path in self.paths
        )


def removed(names: Iterable[str]) -> list[Feature]:
    """The features of some names, and those that cannot do without them. Raises Impossible where a name is none."""
    known = {each.name: each for each in FEATURES}
    wanted = set(names)
    if unknown := sorted(wanted - known.keys()):
        raise Impossible(f"There is no feature {', '.join(unknown)}. There are: {', '.join(known)}.")
    while more := {each.name for each in FEATURES if wanted & set(each.needs)} - wanted:
        wanted |= more
    return [each for each in FEATURES if each.name in wanted]


def fork(names: Iterable[str], to: Path) -> list[str]:
    """Write the copy into a folder, which must be new or empty. Returns the names of the tests that it lacks.

    Raises Impossible.
    """
    features = removed(names)
    if not features:
        raise Impossible(f"Say what the copy is to be without: {', '.join(each.name for each in FEATURES)}.")
    if to.exists() and any(to.iterdir()):
        raise Impossible(f"{to} is not empty.")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=False, capture_output=True, text=True)
    if listed.returncode:
        raise Impossible("This folder is no git repository, which would say which of its files are the project's.")
    tracked = [path for path in listed.stdout.split("\0") if path and (ROOT / path).is_file()]
    gone = Gone.of(features, tracked)
    tests = _tests([path for path in tracked if path not in gone.files], gone)
    for path in tracked:
        if path not in gone.files:
            target = to / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, target)
            if path in tests:
                text, lost = tests[path]
                _keep(target, text, whole=not of_tests(lost) or "def test_" in text)
            elif path.endswith(".md"):
                _keep(target, shortened(target.read_text(encoding="utf-8"), path, gone))
            elif path.endswith((".toml", ".yml", ".txt", "Makefile")):
                _keep(target, without_lines(target.read_text(encoding="utf-8"), gone))
    left_out = [f"{path}::{name}" for path, (_, lost) in tests.items() for name in of_tests(lost)]
    listing = to / "shared" / "features.py"
    listing.write_text(without_records(listing.read_text(encoding="utf-8"), features), encoding="utf-8")
    _generate(to)
    return left_out


def _tests(paths: Iterable[str], gone: Gone) -> dict[str, tuple[str, set[str]]]:
    """The modules of tests without what needs something that is gone, and the names that each has lost.

    What one has lost others may import, or have as a fixture: so they are pruned until nothing more goes.
    """
    sources = {path: (ROOT / path).read_text(encoding="utf-8") for path in paths if re.fullmatch(r"tests/.*\.py", path)}
    left = {path: (source, set[str]()) for path, source in sources.items()}
    while True:
        lost = {f"{_module(path)}.{name}" for path, (_, names) in left.items() for name in names}
        known = replace(gone, modules=gone.modules | lost)
        names = {name.rpartition(".")[2] for name in lost}
        now = dict(left)
        for path, source in sources.items():
            if not lost or names & {*_WORD.findall(source)}:
                now[path] = pruned(source, known, _fixtures(path, left))
        if now == left:
            return left
        left = now


def _fixtures(path: str, left: Mapping[str, tuple[str, set[str]]]) -> set[str]:
    """The names that the conftests of a test's folders have lost."""
    folders = [str(folder / "conftest.py") for folder in PurePosixPath(path).parents]
    return {name for folder in folders if folder in left for name in left[folder][1]}


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def of_tests(names: Iterable[str]) -> list[str]:
    """The names of tests among some names."""
    return sorted(name for name in names if name.startswith("test_"))


def _keep(file: Path, text: str, *, whole: bool = True) -> None:
    if whole:
        file.write_text(text, encoding="utf-8")
    else:
        file.unlink()


def _generate(to: Path) -> None:
    """Format the copy, make it a repository, which tests ask for files, and write what is made from others again."""
    environment = {**os.environ, "PYTHONPATH": str(to)}
    ruff = [sys.executable, "-m", "ruff"]
    subprocess.run([*ruff, "check", "--fix-only", "--quiet", "."], cwd=to, check=True)
    subprocess.run([*ruff, "format", "--quiet", "."], cwd=to, check=True)
    subprocess.run(["git", "init", "--quiet"], cwd=to, check=True)
    for module in GENERATORS:
        command = [sys.executable, "-m", module]
        done = subprocess.run(command, check=False, cwd=to, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise Impossible(f"{module} failed in the copy:\n{done.stderr}")


def without_records(source: str, features: Sequence[Feature]) -> str:
    """The module of records without some of them, and without their names in the list."""
    names = {each.name.upper() for each in features}
    tree, lines = ast.parse(source), source.splitlines(keepends=True)
    for node in reversed(tree.body):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) if name in names:
                _cut(lines, node)
            case ast.AnnAssign(target=ast.Name(id="FEATURES"), value=ast.Tuple(elts=elements)):
                left = [each.id for each in elements if isinstance(each, ast.Name) and each.id not in names]
                _cut(lines, node, f"FEATURES: tuple[Feature, ...] = ({''.join(f'{each}, ' for each in left)})\n")
    return "".join(lines)


def _cut(lines: list[str], node: ast.stmt, instead: str = "") -> None:
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(each.lineno for each in decorators)])
    lines[first - 1 : node.end_lineno or first] = [instead] if instead else []


def pruned(source: str, gone: Gone, fixtures: Iterable[str] = ()) -> tuple[str, set[str]]:
    """A module of tests without what needs something that is gone, and the names that it has lost.

    ``fixtures`` are names of fixtures that are gone.
    """
    lost = {name for node in ast.parse(source).body for name in _imported(node, gone)} | {*fixtures}
    while True:
        source = _without_entries(source, gone, lost)
        tree, lines = ast.parse(source), source.splitlines(keepends=True)
        left = [node for node in tree.body if _is_import(node) or not _lacks(node, lost, gone)]
        more = {name for node in tree.body if node not in left for name in _binds(node)} - lost
        if not more:
            break
        lost |= more
    for node in reversed(tree.body):
        if node not in left:
            documented = tree.body.index(node) + 1
            if not isinstance(node, ast.FunctionDef | ast.ClassDef) and documented < len(tree.body):
                following = tree.body[documented]
                if _is_text(following) and following in left:
                    _cut(lines, following)
            _cut(lines, node)
        elif names := set(_imported(node, gone)):
            _cut(lines, node, _import_of(node, names))
    return "".join(lines), lost


def _is_import(node: ast.AST) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _imported(node: ast.AST, gone: Gone) -> Iterator[str]:
    """The names that an import binds to what is gone."""
    match node:
        case ast.Import(names=names):
            yield from ((each.asname or each.name).partition(".")[0] for each in names if each.name in gone.modules)
        case ast.ImportFrom(module=str(module), names=names):
            for each in names:
                if module in gone.modules or f"{module}.{each.name}" in gone.modules:
                    yield each.asname or each.name


def _import_of(node: ast.stmt, lost: set[str]) -> str:
    """An import at the head of a module without the names that are gone."""
    match node:
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            names[:] = [each for each in names if (each.asname or each.name).partition(".")[0] not in lost]
            return f"{ast.unparse(node)}\n" if names else ""
    return ""


def _lacks(node: ast.stmt, lost: set[str], gone: Gone) -> bool:
    imports = any(name for each in ast.walk(node) for name in _imported(each, gone))
    used = _loads(node) | _marked(node, "usefixtures")
    return bool(imports or used & lost or _marked(node, "needs") & gone.features)


def _loads(node: ast.AST) -> set[str]:
    """The names that a statement uses, fixtures among them."""
    used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    return used | {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}


def _binds(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}


def _marked(node: ast.AST, mark: str) -> set[str]:
    """The values of a test's mark of ours: the features of ``@pytest.mark.needs``."""
    found = set[str]()
    for each in getattr(node, "decorator_list", []):
        match each:
            case ast.Call(func=ast.Attribute(attr=called), args=names) if called == mark:
                found |= {str(name.value) for name in names if isinstance(name, ast.Constant)}
    return found


def _without_entries(source: str, gone: Gone, lost: set[str]) -> str:
    """A module whose lists, tuples, sets and dictionaries lack the entries that name what is gone, or call it."""
    starts = [0]
    for line in source.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    data, cuts, unpacked = source.encode(), list[tuple[int, int]](), set[int]()
    tree = ast.parse(source)
    named = [each for each in tree.body if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name)]
    listed = {id(each.value) for each in named}
    functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    within = {id(node) for each in functions for statement in each.body for node in ast.walk(statement)}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Tuple()], value=ast.Tuple() as value):
                unpacked.add(id(value))
                continue
            case ast.List(elts=elements) | ast.Tuple(elts=elements) if id(node) in listed:
                entries = [(each, each) for each in elements if _names(each, gone) or _loads(each) & lost]
            case ast.Tuple() if id(node) in unpacked:
                continue
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                called = lost if id(node) not in within else set()
                entries = [(each, each) for each in elements if _names(each, gone) or _calls(each, called)]
            case ast.Dict(keys=keys, values=values):
                pairs = zip(keys, values, strict=True)
                entries = [
                    (key, value)
                    for key, value in pairs
                    if key and (_names(key, gone) or _names(value, gone) or _calls(value, lost))
                ]
            case _:
                continue
        for first, last in entries:
            start = starts[first.lineno - 1] + first.col_offset
            end = starts[(last.end_lineno or 1) - 1] + (last.end_col_offset or 0)
            comma = re.match(rb"\s*,[ ]?", data[end:])
            cuts.append((start, end + (comma.end() if comma else 0)))
    inside = [(start, end) for start, end in cuts if any(a < start and end < b for a, b in cuts)]
    for start, end in sorted({*cuts} - {*inside}, reverse=True):
        data = data[:start] + data[end:]
    return data.decode()


def _names(node: ast.expr, gone: Gone) -> bool:
    """Whether an entry names what is gone: it is such a text, or a tuple or a call that begins with one."""
    match node:
        case ast.Constant(value=str(text)):
            return gone.has(text)
        case ast.Tuple(elts=[first, *_]) | ast.Call(args=[first, *_]):
            return _names(first, gone)
    return False


def _calls(node: ast.expr, lost: set[str]) -> bool:
    """Whether an entry is a call of what is gone, or a text with its value."""
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name in lost
        case ast.JoinedStr():
            return bool(_loads(node) & lost)
    return False


def shortened(text: str, path: str, gone: Gone) -> str:
    """A document without the passages about what is gone."""
    whole = text
    for name in gone.features:
        text = re.sub(rf"<!-- {name} -->.*?<!-- end -->\n?", "", text, flags=re.DOTALL)
    text = _sections(text, path, gone)
    kept = "".join(block for block in _blocks(text) if not _links_to(block, path, gone))
    return whole if kept == whole else re.sub(r"\n{3,}", "\n\n", kept)


def _blocks(text: str) -> Iterator[str]:
    """A document's paragraphs, items, rows of tables and passages of code, which together are the document."""
    block = ""
    for line in re.findall(r"```.*?^```[^\n]*\n|[^\n]*\n|[^\n]+$", text, re.MULTILINE | re.DOTALL):
        begins = not line.strip() or line.startswith(("```", "#")) or _ITEM.match(line.lstrip())
        if block and begins:
            yield block
            block = ""
        block += line
    yield block


def _links_to(block: str, path: str, gone: Gone) -> bool:
    folder = PurePosixPath(path).parent
    linked = {os.path.normpath(folder / found) for found in _LINK.findall(block)}
    linked |= {f"{path}{found}" for found in re.findall(r"\]\((#[^)\s]+)", block)}
    named = {found.rstrip("/") for found in _PATH.findall(block)}
    commands = [f"{each} " for each in re.findall(r"`(btd [^`]+)`", block)]
    if any(command.startswith(f"{name} ") for command in commands for name in gone.names):
        return True
    return bool({*linked, *named, *(each.partition("#")[0] for each in linked)} & (gone.places | gone.features))


def _sections(text: str, path: str, gone: Gone) -> str:
    """A document without its sections that are gone."""
    for level, title in _HEADING.findall(text):
        if f"{path}#{anchor(title)}" in gone.places:
            section = rf"^{level} {re.escape(title)}\n.*?(?=^#{{1,{len(level)}}} |\Z)"
            text = re.sub(section, "", text, count=1, flags=re.MULTILINE | re.DOTALL)
    return text


def anchor(title: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def without_lines(text: str, gone: Gone) -> str:
    """A file of settings without the lines whose last words are a comment that names a feature that is gone, and
    without the passages between a line that is such a comment, and a line ``# end``."""
    for name in gone.features:
        text = re.sub(rf"^# {name}\n.*?^# end\n+", "", text, flags=re.MULTILINE | re.DOTALL)
    mark = re.compile(rf"#\s*(?:{'|'.join(map(re.escape, gone.features))})$")
    return "".join(line for line in text.splitlines(keepends=True) if not mark.search(line.rstrip()))


def main(arguments: Sequence[str]) -> int:
    """Make the copy that the arguments ask for: its folder, then the names of features."""
    if not arguments[:1] or not arguments[0]:
        print('Say where the copy goes: make fork WITHOUT="textbook" TO=../mine', file=sys.stderr)
        return 2
    to = Path(arguments[0]).expanduser().resolve()
    try:
        left_out = fork(" ".join(arguments[1:]).split(), to)
    except Impossible as error:
        print(error, file=sys.stderr)
        return 2
    without = ", ".join(each.name for each in removed(" ".join(arguments[1:]).split()))
    print(f"{to} is this project without {without}: {len(left_out)} tests of other files are left out, too.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
