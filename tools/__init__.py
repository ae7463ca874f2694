"""What keeps the repository's own texts right."""
