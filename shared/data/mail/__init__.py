"""Mail: its items in the table, and the mails to send."""
