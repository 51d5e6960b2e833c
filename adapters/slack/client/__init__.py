"""Slack's Web API: its clients, and what its errors mean."""
