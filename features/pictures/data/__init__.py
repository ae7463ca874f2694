"""Uploads of editors, and the pictures made of them."""
