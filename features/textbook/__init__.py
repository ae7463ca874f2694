"""The textbook that runs: lessons as data (``lessons/*.toml``), whose requests readers send to the table."""
