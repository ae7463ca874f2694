"""HTTP for both the API and the site's pages: requests, answers, and the handler around them."""
