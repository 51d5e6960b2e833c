"""arXiv: its announcement feed, its search API and its OAI-PMH service."""
