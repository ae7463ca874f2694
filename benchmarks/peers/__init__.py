"""Services built with other tools, to measure against. Each has its own libraries (``requirements/bench-*.txt``)."""
