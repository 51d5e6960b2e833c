"""What chats show besides replies: forms, completion lists, a home page."""
