"""Discord: how it is connected, asked, shown and posted to. Nothing outside this room imports discord.py."""
