"""Operating a stage: redrive dead letters, probe AWS, read logs, and export the table to SQLite."""
