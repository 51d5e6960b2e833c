"""Measurements, each beside a named baseline in the same run. Run by `make bench`."""

import bot  # noqa: F401  # before numpy: it settles how many threads multiply matrices
