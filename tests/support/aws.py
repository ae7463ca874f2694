"""AWS's command line, which the CDK brings along as a layer of Lambda: one process runs many commands."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

_SERVE = """
import contextlib, io, json, sys, traceback
from awscli.clidriver import create_clidriver
driver = create_clidriver()
for line in sys.stdin:
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        try:
            words = json.loads(line)
            # A skeleton is made by each operation that a driver was asked for so far: it must be the only one.
            status = (create_clidriver() if "--generate-cli-skeleton" in words else driver).main(words)
        except SystemExit as exit:
            status = exit.code
        except BaseException:
            traceback.print_exc()
            status = 1
    print(json.dumps([status, told.getvalue()]), flush=True)
"""


@dataclass(frozen=True, slots=True)
class Aws:
    """A running process of it."""

    process: subprocess.Popen[str]

    def __call__(self, *words: str) -> tuple[int, str]:
        """What a command ends with, and what it prints."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(f"{json.dumps(words)}\n")
        stdin.flush()
        status, told = json.loads(stdout.readline())
        return status, told


@contextmanager
def running(folder: Path, environment: Mapping[str, str]) -> Iterator[Aws]:
    """It, unpacked into a folder, with the environment of its commands."""
    cdk = find_spec("aws_cdk")  # importing it would start Node.js
    assert cdk
    assert cdk.submodule_search_locations
    (packed,) = Path(cdk.submodule_search_locations[0]).glob("asset_awscli_v1/_jsii/*.tgz")
    with tarfile.open(packed) as archive:
        layer = archive.extractfile("package/lib/layer.zip")
        assert layer is not None
        zipfile.ZipFile(BytesIO(layer.read())).extractall(folder)
    kept = {name: value for name, value in environment.items() if not name.lower().endswith("_proxy")}
    with subprocess.Popen(
        [sys.executable, "-S", "-c", _SERVE], cwd=folder, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**kept, "PYTHONPATH": str(folder / "awscli"), "AWS_PAGER": "", "NO_PROXY": "*"},
    ) as process:  # fmt: skip
        try:
            yield Aws(process)
        finally:
            process.kill()
