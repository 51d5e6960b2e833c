"""Feeds of labs and journals, read in a process of their own."""
