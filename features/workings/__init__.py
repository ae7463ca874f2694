"""Shows the requests of each page, the writes of each form, and the table's items, on stages that show their work."""
