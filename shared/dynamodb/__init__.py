"""What DynamoDB is: a table, its requests and their retries. It knows no key and no deal."""
