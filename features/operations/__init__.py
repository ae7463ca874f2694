"""Operating a stage: redrive dead letters, probe AWS, read logs, practise a restore, and export the table to SQLite."""

DOES = (
    "commands of an operator: redrive dead letters, probe a stage, read its logs, practise a restore, export to SQLite"
)
NEEDS = ("imports", "upkeep")
