"""Where the site serves pictures."""

IMAGE_PATHS = ("/pictures/",)
