"""Moved to bot/keys.py: deduping, below this room, reads keys out of addresses too."""

from bot.keys import (  # noqa: F401
    arxiv_id,
    arxiv_ids_in,
    doi,
    github_repo,
    github_repos_in,
    key_of_url,
    normalised_url,
    web_links,
)
