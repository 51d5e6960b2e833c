"""Rebuilds every model that Broadsheet ships from named public data: `make models`."""

import bot  # noqa: F401  # before numpy: it settles how many threads multiply matrices, and with that the last bits of a sum
