"""What is uploaded to Lambda: libraries and our sources, built and trimmed."""
