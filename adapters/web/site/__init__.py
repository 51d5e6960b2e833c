"""The archive as pages: what was posted, by topic and day, each item with its history, search and what one saved."""
