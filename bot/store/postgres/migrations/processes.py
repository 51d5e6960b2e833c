"""The tables of the processes as step 1 makes them."""

TABLES: tuple[str, ...] = ()
