"""Programs for developers: they keep the repository's own texts right, copy the project, and invoke functions."""
