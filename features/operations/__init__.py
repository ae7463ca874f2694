"""Operating a stage: redrive dead letters, probe AWS, read logs, and export the table to SQLite."""

DOES = "commands of an operator: redrive dead letters, probe a stage, read its logs, export the table to SQLite"
NEEDS = ()
