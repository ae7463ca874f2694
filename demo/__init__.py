"""The whole site in a browser tab, from static files: ``docs/demo.md`` explains how."""
