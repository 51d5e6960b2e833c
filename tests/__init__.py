import bot  # noqa: F401  # before numpy: it settles how many threads multiply matrices
