"""Limits of AWS that requests and designs meet."""

from __future__ import annotations

MOST_READS, MOST_WRITES = 3000, 1000
"""Units a second that a partition serves.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
"""

LARGEST = 400 * 1024
"""Bytes of the largest item: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html"""
