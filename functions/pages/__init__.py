"""The Lambda functions that answer browsers with pages, one for each first part of an address."""
