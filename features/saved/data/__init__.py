"""The data layer of saved deals."""
