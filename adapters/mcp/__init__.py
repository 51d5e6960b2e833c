"""How assistants ask: the Model Context Protocol, by its official SDK. Nothing here is imported by the running service."""
