"""The tables of the items as step 1 makes them."""

TABLES: tuple[str, ...] = ()
