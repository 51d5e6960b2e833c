"""Moving a database of PostgreSQL: its bare rows."""
