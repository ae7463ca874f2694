"""The path that crawlers leave out."""

PRIVATE_PATHS = ("/go/",)
