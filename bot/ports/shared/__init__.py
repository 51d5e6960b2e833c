"""The sockets of a store that several processes work on: what they agree by, and how they share out the work."""
