"""DynamoDB: a table, its requests and their retries. Nothing here knows a key or a deal."""
