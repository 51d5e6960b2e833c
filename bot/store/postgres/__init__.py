"""The store in PostgreSQL, for many processes on many machines: hand-written SQL by psycopg, behind the same ports."""
