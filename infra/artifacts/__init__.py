"""The artifacts that are uploaded to Lambda: libraries and our sources."""
