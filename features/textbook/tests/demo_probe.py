"""What a learner does on the demo's site, as JSON, in a process of its own (see ``tests/demo/probe.py``).

``python -m features.textbook.tests.demo_probe learner``.
"""

from __future__ import annotations

import json
import sys

from tests.demo.probe import filled, page  # the stand-ins go first, which it installs

from features.textbook import exercises  # isort: skip


def learner() -> dict[str, str]:
    """A learner opens a lesson, runs another, and solves an exercise at the second try."""
    site, exercise = filled(), exercises.find("exercise-second-like")
    seen = {"lesson": page(site, "/learn/item-collection")["text"]}
    seen["own table"] = page(site, "/learn/indexes-and-projections", fields={"run": "1"})["text"]
    for name, typed in (("mended", exercise.solution), ("broken", exercise.broken)):
        seen[name] = page(site, f"/learn/{exercise.slug}", fields={"request": typed})["text"]
    return seen


if __name__ == "__main__":
    json.dump(learner(), sys.stdout)
