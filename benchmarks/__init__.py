"""Measurements, each beside a named baseline in the same run. Run by `make bench`."""
