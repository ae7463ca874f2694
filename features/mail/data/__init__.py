"""Mail in the table: links, digests, and whose mailbox works."""
