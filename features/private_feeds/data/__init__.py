"""The data layer of private feeds."""
