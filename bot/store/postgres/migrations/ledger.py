"""The tables of the ledger as step 1 makes them."""

TABLES: tuple[str, ...] = ()
