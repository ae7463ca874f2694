"""The link to popular deals."""

TABS = {"lists": (("/popular", "Popular"),)}
