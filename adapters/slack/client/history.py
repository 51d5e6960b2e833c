"""What was written in a channel since a moment, with the metadata by which our own messages are known."""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.client.errors import FAILURES, NO_THREAD, code_of

Message = Mapping[str, Any]

_PAGE = 200  # messages of one look; Slack gives fewer to some apps, and a cursor for the rest


async def since(client: AsyncWebClient, channel: str, moment: datetime, thread: str = "") -> AsyncIterator[Message]:
    """Yield what was written in the thread, where one is named, and then what was in the channel; raises one of FAILURES.

    A thread whose first message was deleted is passed over: what was to hang on it stands in the channel.
    """
    oldest = f"{moment.timestamp():.6f}"
    if thread:
        try:
            async for message in _pages(client.conversations_replies, channel, oldest, ts=thread):
                yield message
        except FAILURES as error:
            if code_of(error) not in NO_THREAD:
                raise
    async for message in _pages(client.conversations_history, channel, oldest):
        yield message


async def _pages(method: Any, channel: str, oldest: str, **more: str) -> AsyncIterator[Message]:
    cursor = ""
    while True:
        asked = {"channel": channel, "oldest": oldest, "limit": _PAGE, "include_all_metadata": True, **more}
        answer = await method(**asked, **({"cursor": cursor} if cursor else {}))
        for message in answer.get("messages") or []:
            yield message
        cursor = (answer.get("response_metadata") or {}).get("next_cursor") or ""
        if not cursor:
            return
