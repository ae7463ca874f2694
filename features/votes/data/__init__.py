"""The data layer of votes."""
