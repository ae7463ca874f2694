"""Design a table in a page: entities, keys and access patterns in, drawings, units, prices and findings out."""

DOES = "a page on which visitors design a table of their own and see what it costs and where it breaks"
NEEDS = ("scratch", "workings")
ORDER = 3
