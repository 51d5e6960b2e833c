"""Digests and replies as Slack's messages. Pure."""
