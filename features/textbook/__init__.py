"""The textbook that runs: lessons as data (``lessons/*.toml``), whose requests readers send to the table."""

DOES = "lessons about single-table design, whose requests visitors send and change"
NEEDS = ("scratch", "workings")
ORDER = 2
