"""Reads and edits English sentences by rules: where they end, what they point at, how they stand by themselves."""
