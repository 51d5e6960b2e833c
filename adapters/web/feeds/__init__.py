"""Feeds: what was posted, and what was saved, for programs that read feeds."""
