"""The running service: its jobs, its health, its platforms."""
