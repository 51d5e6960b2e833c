"""What people do in Discord, each a listener."""
