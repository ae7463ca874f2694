"""Values and their rules: ids, times, names, passwords. They know nothing of where they are kept."""
