"""The bytes of a file: unpacked, counted, limited, and made into text."""

from __future__ import annotations

import codecs
import gzip
import io
import re
from html.entities import html5
from typing import Any, BinaryIO

MAX_RECORD = 1024 * 1024
"""Bytes of a record in other formats than JSON Lines."""

HEAD = 16 * 1024
"""Bytes of a file that show its format."""

WIDE = (b"\xff\xfe", b"\xfe\xff")
"""The marks at the beginning of a text in UTF-16, as spreadsheets write it."""

GUESSED = "windows-1252"
"""The encoding of a text that isn't UTF-8 and doesn't say what it is."""

_NAMED = re.compile(rb"&([A-Za-z][A-Za-z0-9]{1,30});")
_XML_KNOWS = {b"amp", b"lt", b"gt", b"quot", b"apos"}
_DECLARED = re.compile(r"^\ufeff?<\?xml[^>]*\?>")
_NOT_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")


class Source(io.RawIOBase):
    """A file that counts the bytes read, and limits the size of a record."""

    def __init__(self, file: Any) -> None:
        self._read = file.read1 if hasattr(file, "read1") else file.read
        self._since = 0
        self.most: int | None = MAX_RECORD
        self.buffered = io.BufferedReader(self, 2 * HEAD)

    @classmethod
    def of(cls, file: BinaryIO) -> Source:
        """A file's content; gzip is unpacked."""
        source = cls(file)
        return cls(gzip.GzipFile(fileobj=source.buffered)) if source.head().startswith(b"\x1f\x8b") else source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.most is not None and self._since > self.most:
            raise OSError(f"the next one has more than {self.most // 1024} KB")
        data = self._read(len(buffer))
        buffer[: len(data)] = data
        self._since += len(data)
        return len(data)

    def head(self) -> bytes:
        return self.buffered.peek(HEAD)[:HEAD]

    def taken(self) -> int:
        """The bytes read since the last call."""
        taken, self._since = self._since, 0
        return taken


class Lines:
    """The lines of a text. The first one that isn't UTF-8 shows that the text has another encoding."""

    def __init__(self, source: Source, encoding: str = "") -> None:
        wide = source.head()[:2] in WIDE
        self._file: Any = io.TextIOWrapper(source.buffered, "utf-16", newline="") if wide else source.buffered
        self.encoding = encoding or ("utf-16" if wide else "utf-8")
        self.guessed = False
        self._named = bool(encoding)
        self._first = True

    def __iter__(self) -> Lines:
        return self

    def __next__(self) -> str:
        line = self._file.readline()
        if not line:
            raise StopIteration
        text = line if isinstance(line, str) else self._decode(line)
        first, self._first = self._first, False
        return text.removeprefix("\ufeff") if first else text

    def _decode(self, line: bytes) -> str:
        try:
            return line.decode(self.encoding)
        except UnicodeDecodeError:
            if self._named:
                raise
        self.encoding, self.guessed = GUESSED, True
        return line.decode(GUESSED, errors="replace")


class Entities(io.RawIOBase):
    """XML whose entities are those of HTML, too, as numbers, and without characters that XML doesn't have.

    With an ``encoding``, it is in that one, whatever it says, and becomes UTF-8.
    """

    def __init__(self, file: BinaryIO, encoding: str = "") -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder(encoding)() if encoding else None
        self._left = b""
        self._wide = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        if self._decoder is not None:
            data = _DECLARED.sub("", self._decoder.decode(data, final=not data)).encode()
        elif data[:2] in WIDE:
            self._wide = True
        if self._wide:
            return data
        whole = self._left + data
        self._left = b""
        begun = whole.rfind(b"&", max(0, len(whole) - 32))
        if data and begun >= 0 and b";" not in whole[begun:]:
            whole, self._left = whole[:begun], whole[begun:]
        if not whole and data:
            return self.read(size)
        return _NOT_XML.sub(b" ", _NAMED.sub(_number, whole))


def _number(found: re.Match[bytes]) -> bytes:
    """An entity of HTML as numbers; one of XML, or an unknown one, as it is."""
    characters = html5.get(f"{found[1].decode()};")
    if found[1] in _XML_KNOWS or characters is None:
        return found[0]
    return "".join(f"&#{ord(each)};" for each in characters).encode()
