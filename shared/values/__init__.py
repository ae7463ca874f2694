"""Values and their rules: ids, times, names, passwords. None of them depends on where it is stored."""
