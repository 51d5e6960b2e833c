"""The operator's settings, and the topics that come as files."""
