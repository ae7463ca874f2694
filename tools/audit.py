"""Ask for known vulnerabilities of what the locks name: ``make audit``.

PyPI knows those of Python packages (pip-audit), npm's registry those of Node packages (npm audit). A mirror may have
neither: then this says what wasn't audited, and fails as if there were a vulnerability.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PIP_AUDIT = ROOT / ".venv-audit" / "bin" / "pip-audit"
FOLDERS_OF_NODE = (ROOT, ROOT / "demo")


class Audited(NamedTuple):
    """A lock: what is known of its packages, and why some or all of them weren't audited."""

    lock: str
    known: Sequence[str] = ()
    unknown: str = ""


def main() -> None:
    """Print what is found. Exits with 1 unless each package was audited and has no known vulnerability."""
    found = [*_python(), *_node()]
    for audited in found:
        for each in audited.known:
            print(f"{audited.lock}: {each}")
        if audited.unknown:
            print(f"{audited.lock}: not audited: {audited.unknown}")
        elif not audited.known:
            print(f"{audited.lock}: no known vulnerability")
    sys.exit(any(audited.known or audited.unknown for audited in found))


def _python() -> Iterator[Audited]:
    for lock in sorted((ROOT / "requirements").glob("*.txt")):
        options = ("--disable-pip", "--require-hashes", "--progress-spinner", "off", "--format", "json")
        yield of_pip(lock.name, _json(str(PIP_AUDIT), *options, "--requirement", str(lock)))


def _node() -> Iterator[Audited]:
    for folder in FOLDERS_OF_NODE:
        lock = folder / "package-lock.json"
        command = ("npm", "audit", "--json", "--package-lock-only", "--prefix", str(folder))
        yield of_npm(str(lock.relative_to(ROOT)), _json(*command))


def _json(*command: str) -> Mapping[str, Any]:
    """What a command prints as JSON, whatever its exit code; its last words as an error if it prints none."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        return {**json.loads(done.stdout)}
    except (TypeError, ValueError):
        return {"message": (done.stderr.strip() or "no answer").splitlines()[-1]}


def of_pip(lock: str, answer: Mapping[str, Any]) -> Audited:
    """What pip-audit says of a lock. It skips packages that its service doesn't know, and calls that a success."""
    if "dependencies" not in answer:
        return Audited(lock, unknown=answer.get("message", "no answer"))
    packages = answer["dependencies"]
    known = [f"{each['name']} {each['version']}: {bad['id']}" for each in packages for bad in each.get("vulns", ())]
    skipped = [each["name"] for each in packages if "skip_reason" in each]
    return Audited(lock, known, f"{len(skipped)} of {len(packages)} packages are unknown" if skipped else "")


def of_npm(lock: str, answer: Mapping[str, Any]) -> Audited:
    """What npm audit says of a lock."""
    if "vulnerabilities" not in answer:
        return Audited(lock, unknown=answer.get("message") or str(answer.get("error", "no answer")))
    return Audited(lock, [f"{name}: {bad['severity']}" for name, bad in answer["vulnerabilities"].items()])


if __name__ == "__main__":
    main()
