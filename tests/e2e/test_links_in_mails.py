"""From the mail to what its links do: each that stands in one leads to its page, and nothing but its button acts."""

import asyncio
import json
from datetime import timedelta
from typing import cast

from selectolax.lexbor import LexborHTMLParser

from adapters.email.relay.relay import Relay
from adapters.email.send import EmailMessenger
from bot.digest.publisher import Publisher
from bot.models import Layout
from bot.settings.mail import MailSettings
from bot.summarise.extractive import Extractive
from tests.adapters.web.reader import Reader, confirmed, reading, recipient_of, subscribed
from tests.bot.handlers.askers import PAPERS, SOURCES, Asker, Waiting, asker, said
from tests.conftest import NOW

LABELS = {"more": "More like this", "less": "Less like this", "save": "Save", "pause": "Pause", "unsubscribe": "Unsubscribe"}


async def links_of_a_mail(inbox: Asker, reader: Reader) -> list[str]:
    """Make the inbox's digest as it is sent, and return the links of ours in it."""
    context = inbox.context
    (held,) = await inbox.here()
    topic = await context.topic_named(held.workspace, held.topic)
    request = await context.request(inbox.actor, topic, held)
    (digest,) = await Publisher(context.store, Extractive(), SOURCES).publish([request], inbox.now)
    settings = MailSettings(host="127.0.0.1", sender="papers@lab.example", tls="off")
    # Nothing is sent.
    messenger = EmailMessenger(
        cast(Relay, None), context.store.recipients, settings, reader.signer, context.store.ledger.begin
    )
    (payload,) = await asyncio.to_thread(messenger.render, digest, layout=Layout.THREAD, late=False)
    mail = json.loads(payload)
    found = [str(each.attributes["href"]) for each in LexborHTMLParser(mail["html"]).css("a[href]")]
    ours = list(dict.fromkeys(url for url in found if url.startswith(reader.base)))
    assert all(url in mail["text"].split() for url in ours)
    return ours


async def test_every_link_of_a_mail_asks_and_its_button_does_what_it_asked() -> None:
    store = Waiting()
    await store.open()
    await store.items.add(PAPERS, NOW - timedelta(hours=2))
    inbox = recipient_of(asker(store, NOW))
    await confirmed(inbox)
    await subscribed(inbox)
    async with reading(inbox) as reader:
        urls = await links_of_a_mail(inbox, reader)
        verbs = [url.split("/")[5].partition("?")[0] for url in urls]
        entries = verbs.count("more")
        assert entries > 1
        assert sorted(verbs) == sorted(["more", "less", "save"] * entries + ["pause", "unsubscribe"])
        asked = {url: await reader.open(url) for url in urls}
        assert [list(each.buttons) for each in asked.values()] == [[LABELS[verb]] for verb in verbs]
        assert await store.people.feedback(inbox.actor.workspace, "kv") == []

        for url, shown, verb in sorted(zip(urls, asked.values(), verbs, strict=True), key=lambda each: each[2]):
            told = await reader.press(url, shown, LABELS[verb])
            assert (told.status, "did not work" in told.text) == (200, False), told.text

    ada = asker(store, NOW)
    assert said(await ada.ask("profile kv")).count("You said more.") == entries, "in the chat it is theirs"
    assert f"{entries} saved items" in said(await ada.ask("saved"))
    assert await inbox.here() == []
