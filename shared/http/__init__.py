"""HTTP as the API and the site's pages share it: what came in, what goes out, and how a function is served."""
