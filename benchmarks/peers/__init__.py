"""A function built with other tools, to measure against. It has its own libraries (``requirements/bench-powertools.txt``)."""
