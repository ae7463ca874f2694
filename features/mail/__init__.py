"""Mail by Amazon SES: links to new passwords, proved addresses, notices, the day's messages."""
