"""Discord's HTTP API: its client, and what its errors mean."""
