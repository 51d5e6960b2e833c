"""The demo: recorded answers through the whole path."""
