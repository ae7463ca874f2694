"""Mail: what is kept of it in the table, and what is to be sent."""
