"""Child processes that read files of others: their start, their limits, and what they give up."""

DOES = "child processes for files of others: without credentials, with limits, and able to open nothing"
NEEDS = ()
