"""The catalog: deals, the feeds and pages that show them, brands and categories."""
