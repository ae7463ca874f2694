"""The textbook that runs: lessons as data (``lessons/*.toml``), and how one of them is run on the table."""
