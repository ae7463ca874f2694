"""The link among a member's own pages."""

TABS = {"mine": (("/my/saved", "Saved"),)}
