"""What the demo does with lessons, as JSON: a process of its own, for the stand-ins and corrections are for good."""

from __future__ import annotations

import json
import sys

from shared.learn import exercises
from tests.demo.probe import filled, page


def main() -> dict[str, str]:
    """A learner opens a lesson, runs another, and solves an exercise at the second try."""
    site, exercise = filled(), exercises.find("exercise-second-like")
    seen = {"lesson": page(site, "/learn/item-collection")["text"]}
    seen["own table"] = page(site, "/learn/indexes-and-projections", fields={"run": "1"})["text"]
    for name, typed in (("mended", exercise.solution), ("broken", exercise.broken)):
        seen[name] = page(site, f"/learn/{exercise.slug}", fields={"request": typed})["text"]
    return seen


if __name__ == "__main__":
    json.dump(main(), sys.stdout)
