"""What people do in Slack, each a listener."""
