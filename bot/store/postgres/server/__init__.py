"""What is said of a server, and what goes to it together."""
