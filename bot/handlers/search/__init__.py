"""Searching: what is asked and meant, the pages of what is found, and what is said where nothing is."""
