"""The whole site in one browser tab, from static files: ``docs/demo.md`` explains how."""
