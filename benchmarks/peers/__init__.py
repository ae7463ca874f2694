"""A function built with other tools, to measure against. Its libraries: ``requirements/bench-powertools.txt``."""
