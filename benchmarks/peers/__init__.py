"""What others build, to measure against. Each module runs with libraries of its own (``requirements/bench-*.txt``)."""
