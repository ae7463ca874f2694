"""Programs that keep the repository's own texts right."""
