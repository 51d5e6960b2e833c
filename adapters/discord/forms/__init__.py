"""Forms in Discord."""
