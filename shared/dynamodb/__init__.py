"""DynamoDB: a table, its requests and their retries. Keys and contents are defined elsewhere."""
