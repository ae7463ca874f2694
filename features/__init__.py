"""One folder for each feature that a copy can do without: delete the folder, and the site is without it."""
