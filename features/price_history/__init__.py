"""The price history of a product on its deals' pages: a line and a table."""

DOES = "earlier prices of a product on its deals' pages, as a line and a table"
NEEDS = ()
