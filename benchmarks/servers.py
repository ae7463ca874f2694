"""The servers that benchmarks talk to, on 127.0.0.1: the local cloud, and one that answers after a fixed time."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from local.ports import free_port

DYNOXIDE = Path(__file__).parent.parent / "node_modules" / "@dynoxide" / "linux-x64" / "dynoxide"
CREDENTIALS = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "us-east-1"}


def client_arguments(endpoint: str) -> dict[str, Any]:
    """The arguments that connect a client to a server here; the environment has no say."""
    return {"endpoint_url": endpoint, **CREDENTIALS}


@contextmanager
def ministack() -> Iterator[str]:
    """A local cloud that keeps nothing; its endpoint."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "BIND_HOST": "127.0.0.1",
            "GATEWAY_PORT": str(port),
            "PERSIST_STATE": "0",
            "STATE_DIR": folder,
            "TMPDIR": folder,
            "SFTP_ENABLED": "0",
            "IOT_MTLS_ENABLED": "0",
            "LOG_LEVEL": "ERROR",
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "ministack"],
            env=environment,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            endpoint = f"http://127.0.0.1:{port}"
            _wait_for(f"{endpoint}/_ministack/health", process)
            yield endpoint
        finally:
            process.terminate()
            process.wait(timeout=20)


@contextmanager
def dynoxide(*options: str) -> Iterator[str]:
    """A DynamoDB that keeps nothing and tells the capacity that Amazon's would consume; its endpoint."""
    port = free_port()
    with _listening([str(DYNOXIDE), "serve", "--host", "127.0.0.1", "--port", str(port), *options], port) as endpoint:
        yield endpoint


@contextmanager
def slow_dynamodb(milliseconds: float) -> Iterator[str]:
    """A stand-in that says yes to every write after a service time; its endpoint."""
    port = free_port()
    with _listening([sys.executable, "-m", "benchmarks.servers", str(port), str(milliseconds)], port) as endpoint:
        yield endpoint


@contextmanager
def _listening(command: list[str], port: int) -> Iterator[str]:
    """Start a server and wait until it listens; it ends with the block."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        if process.poll() is not None:
            raise SystemExit("the local cloud did not start")
        try:
            with urllib.request.urlopen(address, timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the local cloud did not answer within 30 seconds")


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float) -> None:
    """Answer PutItem and BatchExecuteStatement over one kept-alive connection."""
    while head := await _head(reader):
        length = next(int(line.split(b":")[1]) for line in head if line.lower().startswith(b"content-length"))
        body = await reader.readexactly(length)
        await asyncio.sleep(seconds)
        batch = any(
            line.lower().startswith(b"x-amz-target") and line.endswith(b"BatchExecuteStatement") for line in head
        )
        count = body.count(b'"Statement"') if batch else 0
        answer = json.dumps({"Responses": [{}] * count} if batch else {}).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\n")
        writer.write(b"Content-Length: %d\r\n\r\n" % len(answer) + answer)
        await writer.drain()


async def _head(reader: asyncio.StreamReader) -> list[bytes]:
    try:
        return (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[1:-2]
    except (asyncio.IncompleteReadError, ConnectionError):
        return []


async def _main(port: int, milliseconds: float) -> None:
    server = await asyncio.start_server(
        lambda reader, writer: _serve(reader, writer, milliseconds / 1000), "127.0.0.1", port
    )
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]), float(sys.argv[2])))
