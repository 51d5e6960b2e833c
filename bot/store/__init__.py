"""What is remembered: one port, one contract, an implementation per file."""
