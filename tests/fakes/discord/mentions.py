"""Who would be notified by a message: mentions that stand in its text and are let through."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.fakes.discord.things import parts_of

_EVERYONE = re.compile(r"@(?:everyone|here)")
_PERSON = re.compile(r"<@!?(\d+)>")
_ROLE = re.compile(r"<@&(\d+)>")


def live(body: Mapping[str, Any]) -> list[str]:
    """Return the mentions in a message's text that would notify somebody, as they stand there.

    Without `allowed_mentions` all of them do (resources/message, "Allowed Mentions Object"). Embeds notify nobody.
    """
    texts = [body.get("content") or "", *(str(each.get("content") or "") for each in parts_of(body.get("components") or []))]
    allowed = body.get("allowed_mentions")
    return [found for text in texts for found in _in(text, allowed)]


def _in(text: str, allowed: Mapping[str, Any] | None) -> Iterator[str]:
    parse = {"everyone", "users", "roles"} if allowed is None else set(allowed.get("parse") or ())
    named = {} if allowed is None else allowed
    if "everyone" in parse:
        yield from _EVERYONE.findall(text)
    for pattern, kind in ((_PERSON, "users"), (_ROLE, "roles")):
        some = set(named.get(kind) or ())
        yield from (each.group() for each in pattern.finditer(text) if kind in parse or each[1] in some)
