"""The link by which a server's administrator invites the bot, and where Discord sends what people do. Pure.

It asks for the fewest permissions, each with its reason.
"""

from collections.abc import Mapping
from urllib.parse import urlencode

from discord import Permissions

INTERACTIONS_PATH = "/discord/interactions"
SCOPES = ("bot", "applications.commands")

# docs/discord.md tells the same.
REASONS: Mapping[str, str] = {
    "view_channel": "to see the channels that digests are posted to",
    "send_messages": "to post digests",
    "send_messages_in_threads": "to post in threads and in the posts of a forum",
    "create_public_threads": "to open a thread for a digest's cards (layout `thread`)",
    "read_message_history": "to look whether a digest was posted before it is posted again",
    "attach_files": "to hand over exports, such as BibTeX, and the pictures of *trends*",
    "embed_links": "to show previews of papers below links (setting `discord.link_previews`)",
}


def permissions() -> Permissions:
    """Return what is asked for."""
    return Permissions(**dict.fromkeys(REASONS, True))


def endpoint(public_url: str) -> str:
    """Return the address to enter in the developer portal as Interactions Endpoint URL."""
    return public_url.rstrip("/") + INTERACTIONS_PATH


def invite(application_id: str, *, user: bool = False) -> str:
    """Return the address to open; `application_id` stands in Discord's developer portal under General Information.

    With `user` it is that by which a person installs the bot for themselves, which asks for no permission anywhere.
    """
    if user:
        own = {"client_id": application_id, "scope": "applications.commands", "integration_type": "1"}
        return f"https://discord.com/oauth2/authorize?{urlencode(own)}"
    asked = {"client_id": application_id, "scope": " ".join(SCOPES), "permissions": str(permissions().value)}
    return f"https://discord.com/oauth2/authorize?{urlencode(asked)}"
