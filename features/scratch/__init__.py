"""Scratch partitions, in which visitors run requests of their own, refused by AWS's rules and held to a cost."""

DOES = "runs of visitors' own requests in scratch partitions: AWS's rules, the most that a run may cost, drawings"
NEEDS = ()
