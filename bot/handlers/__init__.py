"""One function per command: command and actor in, Reply out."""
