"""Subscriptions of a channel: made, paused, changed, previewed."""
