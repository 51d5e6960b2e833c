"""Summaries of repositories, from their description, README and releases."""
