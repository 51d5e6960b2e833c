"""Feeds: who may read which, at which addresses, and what is in them."""
