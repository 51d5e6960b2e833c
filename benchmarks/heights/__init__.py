"""How tall messages are: what the chats are sent, drawn as they draw it, and measured in a browser."""
