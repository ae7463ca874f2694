"""Shows the requests of each page, the writes of each form, and the table's items, on stages that show their work."""

DOES = "the panel that shows a page's requests and a form's writes, and the table's browser"
NEEDS = ()
ORDER = 1
