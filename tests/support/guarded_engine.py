"""The MiniStack of the tests, behind the guard of the local cloud. Pages of previews are its site's."""

from __future__ import annotations

import os

from local import guarded_ministack


class MiniStack(guarded_ministack.MiniStack):
    """A cloud whose site is a preview: a server of the same machine, at any port."""

    __slots__ = ()

    def has_page(self, origin: str, host: str) -> bool:
        return origin.startswith("http://127.0.0.1:") or super().has_page(origin, host)


if __name__ == "__main__":
    guarded_ministack.serve(MiniStack(os.environ["AWS_ACCESS_KEY_ID"]))
