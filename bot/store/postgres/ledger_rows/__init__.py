"""The rows of the ledger in PostgreSQL: how those that wait are found in turns, and how they are held and written."""
