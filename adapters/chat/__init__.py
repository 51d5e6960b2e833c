"""What both chats have in common, written once: each draws and sends it in its own way."""
