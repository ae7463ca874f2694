"""Mail by Amazon SES: links to new passwords, verified addresses, notices, the day's messages."""

DOES = "mail by Amazon SES: links to new passwords, proved addresses, notices, the day's messages"
NEEDS = ()
JOINS = {"accounts": "api", "account": "pages"}
