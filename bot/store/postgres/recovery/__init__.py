"""Moving a database of PostgreSQL: its bare rows, and its backups by the programs that come with PostgreSQL."""
