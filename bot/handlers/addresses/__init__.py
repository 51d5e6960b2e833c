"""The addresses to which digests are sent: who may act for one, how one is confirmed, and how one is forgotten."""
