"""Digests and replies as Discord's messages. Pure."""
