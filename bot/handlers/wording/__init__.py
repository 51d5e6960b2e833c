"""The sentences of the handlers."""
