"""The tables of the people as step 1 makes them."""

TABLES: tuple[str, ...] = ()
