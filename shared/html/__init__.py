"""The site's HTML: pages, forms, cookies and headers."""
