"""The REST API's JSON: bodies, documents, problems, and what is said of them."""
