"""Digests as mails. Pure."""
