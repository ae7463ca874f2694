"""The data layer of clicks."""
