"""Digests and replies for the terminal, as pages and as JSON."""
