"""What each of Discord's refusals means: only a code that speaks of a place or of the token refuses for good."""

import json
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from discord.errors import HTTPException
from discord.http import Route
from yarl import URL

from adapters.discord.client.api import Intercepted, RestClient
from adapters.discord.client.errors import discord_delivery_error
from bot.errors import Delayed, DeliveryError, Reach, Refused, Rejected, Uncertain
from tests.fakes.discord import FakeDiscord, running

HERE, ALL, EVERYWHERE = Reach.CHANNEL, Reach.WORKSPACE, Reach.PLATFORM


def answered(status: int, code: int | None, message: str = "No") -> HTTPException:
    """Return what discord.py raises for such an answer."""
    response: Any = SimpleNamespace(status=status, reason="No")
    return HTTPException(response, {"message": message, "code": code})


@pytest.mark.parametrize(
    ("status", "code", "kind", "reach"),
    [
        (404, 10003, Refused, HERE),
        (404, 10004, Refused, ALL),
        (404, 10013, Refused, HERE),
        (403, 50001, Refused, HERE),
        (403, 50013, Refused, HERE),
        (403, 50007, Refused, HERE),
        (400, 50008, Refused, HERE),
        (400, 40067, Refused, HERE),
        (401, 0, Refused, EVERYWHERE),
        (401, 40001, Refused, EVERYWHERE),
        (401, 50014, Refused, EVERYWHERE),
        (400, 50035, Rejected, HERE),
        (400, 50006, Rejected, HERE),
        (404, 10008, Rejected, HERE),
        (400, 200000, Rejected, HERE),
        (400, 240000, Rejected, HERE),
        (400, 0, Rejected, HERE),
        (400, 98765, Rejected, HERE),
        (403, 98765, Rejected, HERE),
        (403, 0, Rejected, HERE),
        (404, 0, Rejected, HERE),
        (400, 20028, Delayed, HERE),
        (403, 40004, Delayed, EVERYWHERE),
        (403, 40333, Delayed, EVERYWHERE),
        (400, 160006, Delayed, HERE),
        (500, 0, Uncertain, HERE),
        (503, 130000, Uncertain, HERE),
    ],
)
def test_each_of_discords_codes_has_a_meaning_and_a_sentence(
    status: int, code: int, kind: type[DeliveryError], reach: Reach
) -> None:
    found = discord_delivery_error(answered(status, code))

    assert (type(found), found.reach) == (kind, reach)
    assert str(found).endswith(".")


def test_what_is_not_known_is_named_by_its_status_and_code_and_by_nothing_that_it_says() -> None:
    first = discord_delivery_error(answered(400, 98765, "of channel 17"))
    other = discord_delivery_error(answered(400, 98765, "of channel 18"))
    third = discord_delivery_error(answered(400, 98766))
    assert isinstance(first, Rejected) and isinstance(other, Rejected) and isinstance(third, Rejected)  # noqa: PT018
    assert first.failure == other.failure == "status 400, code 98765"
    assert third.failure != first.failure
    assert "17" not in str(first)
    assert first.failure in str(first)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 407, 413])
@pytest.mark.parametrize("body", ["<html>Access denied</html>", json.dumps({"error": "blocked by policy"}), "[]", ""])
async def test_what_answers_in_discords_place_has_posted_nothing_and_says_nothing_of_a_channel(
    status: int, body: str
) -> None:
    async with running() as fake:
        fake.befall("GET /users", status=status, answer=body)
        with pytest.raises(Intercepted) as caught:
            await _asked(fake)

    found = discord_delivery_error(caught.value)
    assert (type(found), found.reach) == (Delayed, EVERYWHERE)
    assert str(status) in str(found)
    assert "policy" not in str(found)


async def _asked(fake: FakeDiscord) -> Any:
    usual, Route.BASE = Route.BASE, fake.api_url
    door = RestClient(fake.token)
    try:
        return await door.request(Route("GET", "/users/@me"))
    finally:
        await door.close()
        Route.BASE = usual


def test_a_proxy_that_lets_nothing_through_has_posted_nothing() -> None:
    request: Any = SimpleNamespace(real_url=URL("https://discord.com"))
    refused = aiohttp.ClientHttpProxyError(request, (), status=403, message="Forbidden")
    for error in (refused, aiohttp.ConnectionTimeoutError()):
        found = discord_delivery_error(error)
        assert (type(found), found.reach) == (Delayed, EVERYWHERE)
