"""How Slack is heard: by socket or by HTTP, each event once."""
