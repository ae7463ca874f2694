"""A Lambda execution environment: its connections, its log and metrics, its batches."""
