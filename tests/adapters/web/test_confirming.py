"""An address confirmed by the link in the mail that has the code: opened by any program, pressed by a person."""

import asyncio
import base64
import hmac
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.rate_limit import RateLimit
from bot.errors import UsageError
from bot.handlers.addresses.letters import Letters
from bot.handlers.links import LinkAction, LinkSigner, SignedLink, letter_link
from bot.models import CODE_HOLDS, Preferences, Suppression, code_kept, is_mail
from bot.models.mail import address_hash
from tests.adapters.web.reader import KEY, ME, Reader, reading
from tests.bot.deliveries import change
from tests.bot.handlers.askers import Asker, said
from tests.fakes.letters import Mailbox
from tests.stores.instead import instead

ONE_CLICK = {"List-Unsubscribe": "One-Click"}
SITE = "https://papers.lab.example"


async def _key() -> bytes:
    return KEY


@pytest.fixture
def mailbox() -> Mailbox:
    return Mailbox()


@pytest.fixture
def anna(ada: Asker, mailbox: Mailbox) -> Asker:
    """Ada, where e-mail is set up, and pages are."""
    store = ada.context.store
    store.recipients = instead(store.recipients, key=_key)  # type: ignore[misc]
    return replace(ada, context=replace(ada.context, letters=Letters(lambda: mailbox, SITE)))


@pytest.fixture
async def reader(anna: Asker) -> AsyncIterator[Reader]:
    async with reading(anna) as made:
        yield made


def link_in(mailbox: Mailbox, reader: Reader) -> str:
    """The link of the last letter, to the server of this test."""
    (found,) = re.findall(r"^    (https://\S+)$", mailbox.letters[-1][2], re.MULTILINE)
    assert found.startswith(f"{SITE}/mail/confirm/")
    return str(found).replace(SITE, reader.base)


def kept_of(mailbox: Mailbox, person: str) -> str:
    """How the code of the last letter is kept, as one that the person asked for."""
    return hmac.digest(KEY, code_kept("slack:T1", person, mailbox.code).encode(), "sha256").hex()


async def by_mail(anna: Asker) -> list[str]:
    return [each.topic for each in await anna.context.store.workspaces.subscriptions("slack:T1") if is_mail(each.channel)]


async def test_the_button_confirms_what_opening_the_page_does_not(anna: Asker, mailbox: Mailbox, reader: Reader) -> None:
    await anna.ask(f'subscribe kv by email {ME} weekdays at 07:00 filter "<b>your account</b>"')
    url = link_in(mailbox, reader)
    for method in ("GET", "HEAD", "GET"):
        asked = await reader.open(url, method)
    assert (asked.title, list(asked.buttons)) == (f"Digests by e-mail to {ME}?", ["Confirm"])
    assert "account" not in asked.html, "what somebody typed is no letter of ours"
    assert (await reader.open(url, "POST", data={"List-Unsubscribe": "One-Click"})).status == 400
    assert await by_mail(anna) == []

    told = await reader.press(url, asked, "Confirm")

    assert (told.status, told.title, told.buttons) == (200, "Subscribed to KV cache", {})
    assert f"{ME} is confirmed. What fits KV cache" in told.text
    assert "?" not in told.text, "there is no button for it"
    assert await by_mail(anna) == ["kv"]
    assert (await reader.press(url, asked, "Confirm")).title == (await reader.open(url)).title == "This link leads nowhere"
    with pytest.raises(UsageError):
        await anna.ask(f"confirm {mailbox.code}")
    assert ME in said(await anna.ask("list all")), "in the chat it is theirs"


@pytest.mark.parametrize("one_click", [True, False])
async def test_who_gets_a_code_unasked_ends_them_by_the_link_for_it(anna: Asker, reader: Reader, one_click: bool) -> None:
    store, refused = anna.context.store, list[object]()

    async def refuse(*given: object) -> None:
        refused.append(given)

    store.recipients = instead(store.recipients, refuse_letters=refuse)  # type: ignore[misc]
    url = reader.signer.url(letter_link(address_hash(KEY, ME)))
    forged = reader.signer.url(letter_link(address_hash(KEY, "you@lab.example"))).rpartition("=")[2]
    for _ in range(2):
        asked = await reader.open(url)
    assert (asked.title, list(asked.buttons)) == ("No more codes?", ["No more codes"])
    assert ME not in asked.html, "who has the link may have been passed the mail"
    assert (await reader.open(f"{url.rpartition('=')[0]}={forged}", "POST", data=ONE_CLICK)).status == 404
    assert (await reader.open(url, "POST", data={"do": "no"})).status == 400
    assert refused == []
    told = await (reader.open(url, "POST", data=ONE_CLICK) if one_click else reader.press(url, asked, "No more codes"))
    assert told.status == 200
    assert told.html == "Unsubscribed.\n" if one_click else told.title == "No more codes are sent"
    assert refused == [(address_hash(KEY, ME), Suppression.COMPLAINED, anna.now)]
    other = SignedLink(LinkAction.PAUSE, letter_link("00" * 32).subscription)
    assert (await reader.open(reader.signer.url(other))).status == 404


async def test_it_is_confirmed_once_whoever_is_first(anna: Asker, mailbox: Mailbox, reader: Reader) -> None:
    await anna.ask(f"subscribe kv by email {ME}")
    url = link_in(mailbox, reader)
    asked = await reader.open(url)
    answers = await asyncio.gather(*(reader.press(url, asked, "Confirm") for _ in range(4)))
    assert sorted(each.status for each in answers) == [200, 404, 404, 404]
    assert await by_mail(anna) == ["kv"]

    later = anna.at(anna.now + timedelta(minutes=11))
    await later.ask("subscribe gpu-systems by email other@lab.example")
    await later.ask(f"confirm {mailbox.code}")
    assert (await reader.open(link_in(mailbox, reader))).status == 404


async def test_who_might_subscribe_when_asking_has_it_though_it_is_for_administrators(
    anna: Asker, mailbox: Mailbox, reader: Reader
) -> None:
    await anna.context.store.workspaces.save_preferences("slack:T1", Preferences(manage="admins"), change("slack:T1"))
    await anna.by(may_administer=True).ask(f"subscribe kv by email {ME}")
    url = link_in(mailbox, reader)
    assert (await reader.press(url, await reader.open(url), "Confirm")).title == "Subscribed to KV cache"


async def test_a_link_tells_nothing_of_who_asked(anna: Asker, mailbox: Mailbox, reader: Reader) -> None:
    await anna.ask(f"subscribe kv by email {ME}")
    token = link_in(mailbox, reader).rpartition("/")[2]
    carried = base64.urlsafe_b64decode(token.partition(".")[0] + "===").decode()
    assert "T1" not in carried
    assert anna.actor.person not in carried
    assert code_kept("slack:T1", anna.actor.person, mailbox.code) not in carried, "or guesses could be tried out"


async def test_a_link_takes_no_address_from_who_confirmed_it_first(anna: Asker, mailbox: Mailbox, reader: Reader) -> None:
    await anna.by(person="U-eve").ask(f"subscribe gpu-systems by email {ME}")
    url = link_in(mailbox, reader)
    asked = await reader.open(url)
    await anna.ask(f"subscribe kv by email {ME}")
    await anna.ask(f"confirm {mailbox.code}")
    told = await reader.press(url, asked, "Confirm")
    assert "Another person here has confirmed that address" in told.text
    assert await by_mail(anna) == ["kv"]


async def test_where_somebody_complained_the_link_does_nothing(anna: Asker, mailbox: Mailbox, reader: Reader) -> None:
    await anna.ask(f"subscribe kv by email {ME}")
    url = link_in(mailbox, reader)
    asked = await reader.open(url)
    await anna.context.store.recipients.suppress(ME, Suppression.COMPLAINED, anna.now)
    told = await reader.press(url, asked, "Confirm")
    assert (told.title, told.buttons) == ("That did not work", {})
    assert await by_mail(anna) == []


async def test_a_letter_to_a_list_and_one_without_pages_have_the_code_alone(
    anna: Asker, mailbox: Mailbox, reader: Reader
) -> None:
    await anna.by(may_administer=True).ask("subscribe kv by list all@lab.example")
    assert "http" not in mailbox.letters[-1][2]
    url = reader.signer.confirmation_url(kept_of(mailbox, anna.actor.person))
    assert (await reader.open(url)).status == 404
    without = replace(anna, context=replace(anna.context, letters=mailbox.opened()))
    await without.ask(f"subscribe kv by email {ME}")
    assert "http" not in mailbox.letters[-1][2]


async def test_a_link_that_was_not_made_here_or_is_too_old_leads_nowhere(anna: Asker, mailbox: Mailbox) -> None:
    await anna.ask(f"subscribe kv by email {ME}")
    time = [anna.now]
    async with reading(anna, clock=lambda: time[0], by_address=RateLimit(170, lambda: 0.0)) as reader:
        url = link_in(mailbox, reader)
        nowhere = [
            url[:-1],
            url + "A",
            url.rpartition(".")[0],
            reader.base + "/mail/confirm/x",
            reader.signer.confirmation_url(kept_of(mailbox, "U-eve")),
            LinkSigner(bytes(32), reader.base).confirmation_url(kept_of(mailbox, anna.actor.person)),
        ]
        answers = {(await reader.open(each)).html for each in nowhere}
        assert len(answers) == 1
        assert [(await reader.open(each, "POST", data={"do": "yes"})).status for each in nowhere[:3]] == [404, 404, 404]
        assert (await reader.open(nowhere[0])).status == 429
    async with reading(anna, clock=lambda: time[0]) as reader:
        time[0] += CODE_HOLDS
        assert (await reader.open(link_in(mailbox, reader))).status == 404
    assert await by_mail(anna) == []
