"""Forms in Slack: opened, kept in step, and sent."""
