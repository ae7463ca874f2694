"""The REST API's JSON: bodies, documents, problems, and their OpenAPI descriptions."""
