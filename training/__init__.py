"""Rebuilds every model that Broadsheet ships from named public data: `make models`."""
