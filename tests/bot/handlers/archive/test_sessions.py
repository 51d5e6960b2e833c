"""Links that open the pages, and the sessions that browsers get for them."""

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.handlers.archive.sessions import open_session, opening_link, reader, signer_of
from bot.handlers.links import LinkSigner
from tests.bot.handlers.askers import Asker

BASE = "https://papers.lab.example"


@pytest.fixture
def served(ada: Asker) -> Asker:
    """Ada, where pages are served."""
    return replace(ada, context=replace(ada.context, web_url=BASE))


async def token_of(asker: Asker) -> str:
    return (await opening_link(asker.context, asker.actor, asker.now)).removeprefix(f"{BASE}/open/")


async def test_a_link_opens_the_pages_of_who_asked_once(served: Asker) -> None:
    signer, token = await signer_of(served.context), await token_of(served)
    kept = await open_session(served.context, signer, token, served.now)
    who = signer.read_session(kept, served.now)
    assert who is not None
    actor = reader(who)
    assert (actor.platform, actor.workspace, actor.channel, actor.person) == ("slack", "slack:T1", "C1", "U-ada")
    assert not await served.context.may_manage(actor)
    assert await open_session(served.context, signer, token, served.now) == ""
    assert await open_session(served.context, signer, token, served.now + timedelta(minutes=14)) == ""


async def test_two_links_are_two_and_each_opens_once(served: Asker) -> None:
    signer = await signer_of(served.context)
    first, second = await token_of(served), await token_of(served)
    assert first != second
    assert await open_session(served.context, signer, first, served.now)
    assert await open_session(served.context, signer, second, served.now)


async def test_a_link_that_is_forged_or_late_or_of_another_database_opens_nothing(served: Asker) -> None:
    signer, token = await signer_of(served.context), await token_of(served)
    late = served.now + timedelta(minutes=15)
    for given, by, at in (
        (token[:-1], signer, served.now),
        (token, LinkSigner(bytes(32), BASE), served.now),
        (token, signer, late),
        ("", signer, served.now),
    ):
        assert await open_session(served.context, by, given, at) == ""
    assert await open_session(served.context, signer, token, served.now)


async def test_without_pages_there_is_no_link(ada: Asker) -> None:
    assert await opening_link(ada.context, ada.actor, ada.now) == ""
