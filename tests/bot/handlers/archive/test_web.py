"""The command that gives a link to the pages."""

from dataclasses import replace

import pytest

from bot.errors import UsageError
from bot.handlers.archive.sessions import signer_of
from tests.bot.handlers.askers import Asker

BASE = "https://papers.lab.example"


@pytest.fixture
def served(ada: Asker) -> Asker:
    """Ada, where pages are served."""
    return replace(ada, context=replace(ada.context, web_url=BASE))


async def test_who_asks_is_given_a_link_of_their_own_privately(served: Asker) -> None:
    reply = await served.ask("web")
    assert reply.private
    link, told = reply.text
    who = (await signer_of(served.context)).read_opening(link.removeprefix(f"{BASE}/open/"), served.now)
    assert who is not None
    assert (who.workspace, who.channel, who.person) == ("slack:T1", "C1", "U-ada")
    assert "15 minutes" in told
    assert "12 hours" in told


async def test_without_pages_the_operator_is_named_who_can_set_them_up(ada: Asker) -> None:
    with pytest.raises(UsageError, match="browser") as refused:
        await ada.ask("web")
    assert "web.url" in refused.value.hint


async def test_somebody_of_another_organisation_is_given_no_link(served: Asker) -> None:
    with pytest.raises(UsageError, match="members of the workspace"):
        await served.by(is_external=True).ask("web")
