"""Keeping a database in PostgreSQL sound: pruning, checking, and by the programs of PostgreSQL backups and restores."""
