"""Slack: a way to reach Broadsheet; the only room that knows slack_bolt and slack_sdk."""
