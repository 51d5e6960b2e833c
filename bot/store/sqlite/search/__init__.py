"""Searching the SQLite file: by words in FTS5, by meaning in a copy of the vectors."""
