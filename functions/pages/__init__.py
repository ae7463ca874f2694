"""The Lambda functions that serve pages, one for each first path segment."""
