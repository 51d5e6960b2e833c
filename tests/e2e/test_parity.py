"""What a team can do in Slack it can do in Discord: every command of the table through both, over real sockets."""

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from adapters.cli.render.page import page as html_page
from adapters.discord.install.command_tree import path
from adapters.discord.render.components import form_opened_by, nested, read_button
from adapters.discord.render.digests import OPEN_CARD, digest_messages
from adapters.discord.render.messages import reply_messages
from adapters.email.render.links import NO_LINKS
from adapters.email.render.mail import render
from adapters.slack.render import messages
from adapters.slack.render.blocks import KEPT
from adapters.web.feeds.atom import atom
from adapters.web.feeds.entries import Feed, topic_entries
from adapters.web.site.addresses import day_path, item_path
from adapters.words import facts, title, told_parts
from bot.commands import TABLE, Command, Rest, Subscribe, parse
from bot.digest.card import entry as card_entry
from bot.handlers.links import LinkSigner
from bot.models import ArchivedDigest, Digest, Kind, Layout, Link
from tests.adapters.discord.asked import values_of
from tests.adapters.discord.hostile import contents
from tests.adapters.email.reading import Reader, cards, listed
from tests.adapters.web.browser import browsing, sees
from tests.adapters.web.feeds.reading import read
from tests.bot.handlers.askers import asker
from tests.conftest import NOW, tries
from tests.e2e import discord_desk, slack_desk
from tests.e2e.discord_desk import DiscordDesk
from tests.e2e.slack_desk import SlackDesk
from tests.fakes.digests import GPU
from tests.fakes.discord import Message as DiscordMessage
from tests.fakes.replies import CARD
from tests.fakes.slack import Message as SlackMessage
from tests.fakes.slack.state import texts
from tests.stores.memory import MemoryStore

# What the table's examples speak of, and what there is.
_HERE = {
    "https://arxiv.org/abs/2606.01234": "https://arxiv.org/abs/2603.00003",
    "2606.01234": "2603.00002",
    "owner/name": "acme/gpu-kit",
    "published:30d": "published:2026-01-01..2026-12-31",
    "stars:>100": "",
    '"kv cache"': "gpu",
    "more 3": "more 2603.00004",
}
_BESIDES = (
    'unfollow author:"Tri Dao"',
    "search gpu sort:new",
    "trends acme/gpu-kit",
    "search nothing-like-this",
    "settings",
    "profile gpu-systems reset",
    "saved",
    "list",
    "topics",
)
DETAILS = "Details"
_DAY = date(2026, 4, 1)
_AT = datetime(2026, 4, 1, 7, tzinfo=UTC)
_ID = LinkSigner(bytes(32)).identifier("feed")
_entries = partial(topic_entries, of=("w", "gpu-systems"), identify=LinkSigner(bytes(32)).identifier)
_SLACK_LINE = re.compile(r"^\*(\d+)\.  <([^|>]+)\|([^>]+)>\*", re.MULTILINE)
_DISCORD_LINE = re.compile(r"^\*\*(\d+)\\?\. \[([^\]]+)\]\(<([^>]+)>\)", re.MULTILINE)
_LINK = re.compile(r"https://(?:arxiv\.org/abs|github\.com)/[\w./-]+")


@dataclass(frozen=True, slots=True)
class Told:
    """What an answer comes to, whatever it looks like."""

    items: tuple[str, ...]  # the addresses of its items, in their order, each once
    actions: tuple[tuple[str, str], ...]  # (label, command) of its buttons, in their order
    has_selects: bool = False  # what entries offer stands together, by what is done
    text: str = field(default="", compare=False)  # all that stands in it

    @property
    def cards(self) -> list[str]:
        """The commands that show the cards of its entries."""
        return [command for label, command in self.actions if label == DETAILS]


def asked() -> Iterator[str]:
    """Yield the example of every command, of what is there, and a few more."""
    for text in (*(usage.example for usage in TABLE), *_BESIDES):
        for there, here in _HERE.items():
            text = text.replace(there, here)
        yield " ".join(text.split())


async def test_every_command_tells_the_same_and_offers_the_same_in_both(tmp_path: Path) -> None:
    (tmp_path / "slack").mkdir()
    (tmp_path / "discord").mkdir()
    async with slack_desk.sitting(tmp_path / "slack") as slack, discord_desk.sitting(tmp_path / "discord") as discord:
        for text in asked():
            command = parse(text)
            one, other = await in_slack(slack, text), await in_discord(discord, command)
            assert "server" not in one.text.lower(), f"{text}: in Slack"
            assert "workspace" not in other.text.lower(), f"{text}: in Discord"
            if other.has_selects:  # entries: a menu or buttons each in Slack, one list of them in Discord, and their cards
                cards = [await in_discord(discord, parse(each)) for each in other.cards]
                within_reach = {*other.actions, *(each for card in cards for each in card.actions)}
                assert one.items == other.items, text
                assert set(one.actions) <= within_reach, text
                assert {each for each in other.actions if each[0] != DETAILS} <= set(one.actions), text
            else:
                assert one == other, text
        assert (discord.fake.wrong, discord.fake.mentions) == ([], [])
        assert [(each.method, each.error) for each in slack.fake.rejected] == []
        assert slack.fake.mentions == []
        for desk in (slack, discord):
            held = await desk.app.store.workspaces.subscriptions(
                desk.workspace if isinstance(desk, DiscordDesk) else slack_desk.WORKSPACE
            )
            assert [each.topic for each in held] == [], "subscribed, and unsubscribed again"


async def in_slack(desk: SlackDesk, text: str) -> Told:
    fake = desk.fake
    before = len(fake.messages(fake.general))
    given = await fake.command(text, channel=fake.general)
    await given.answer()
    await answered()
    found = [*given.answers, *fake.messages(fake.general)[before:]]
    return await _told(desk.app.store.chats, slack_desk.WORKSPACE, [_blocks(each) for each in _once(found)])


async def answered() -> None:
    """Wait until everything that was asked is answered to its end."""
    while any(task.get_name().startswith("answering") for task in asyncio.all_tasks()):  # noqa: ASYNC110 - tasks tell nobody
        await asyncio.sleep(0.005)


def _once(found: Iterable[SlackMessage]) -> list[SlackMessage]:
    return list({each.ts: each for each in found}.values())


def _blocks(message: SlackMessage) -> list[Any]:
    return list(message.blocks)


async def in_discord(desk: DiscordDesk, command: Command) -> Told:
    before = len(desk.fake.of_bot(desk.papers))
    values = {name: value for name, value in values_of(command).items() if (name, value) != ("to", "me")}  # nobody is chosen
    given = await desk.fake.slash(path(command.usage), user=desk.anna, channel=desk.papers, **values)
    await answered()
    found: list[DiscordMessage] = [*given.messages, *desk.fake.of_bot(desk.papers)[before:]]
    return await _told(desk.app.store.chats, desk.workspace, [each.components for each in dict.fromkeys(found)])


async def _told(chats: Any, workspace: str, messages: Sequence[Any]) -> Told:
    items = dict.fromkeys(found for each in messages for found in _LINK.findall(str(each)))
    actions = [(each["label"], await _command(chats, workspace, each["says"])) for each in _buttons(messages)]
    selects = any(each.get("type") == 3 for told in messages for each in nested(told))
    return Told(tuple(items), tuple(actions), selects, str(messages))


def _buttons(value: Any) -> Iterator[dict[str, str]]:
    """Yield the buttons of either platform, wherever they stand; of an entry in brief, how its card is opened."""
    if isinstance(value, Mapping) and value.get("type") == 3:
        label = DETAILS if value["placeholder"] == OPEN_CARD else value["placeholder"].removesuffix("…")
        yield from ({"label": label, "says": each["value"]} for each in value["options"])
    elif isinstance(value, Mapping) and value.get("type") == "overflow":
        options = [each for each in value["options"] if "url" not in each]
        details = [each for each in options if each["text"]["text"] == DETAILS]
        yield from ({"label": each["text"]["text"], "says": each["value"]} for each in details or options)
    elif isinstance(value, Mapping):
        label = value.get("label") or value.get("text")
        says = value.get("custom_id") or value.get("value")
        if value.get("type") in (2, "button") and says:
            yield {"label": str(label["text"] if isinstance(label, Mapping) else label), "says": str(says)}
            return
        for each in value.values():
            yield from _buttons(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _buttons(each)


async def _command(chats: Any, workspace: str, says: str) -> str:
    if (form := form_opened_by(says)) is not None:
        return form.carried
    found = read_button(says)
    if found is not None and found.command:
        return found.command
    key = found.key if found is not None else says.removeprefix(KEPT) if says.startswith(KEPT) else ""
    return await chats.kept_text(workspace, key) or "" if key else says


@pytest.mark.parametrize("layout", [Layout.THREAD, Layout.FULL])
async def test_a_posted_card_offers_the_same_in_both(layout: Layout) -> None:
    slack = [list(each.blocks) for each in messages.digest(GPU, layout=layout, late=False)]
    discord = [list(each.components) for each in digest_messages(GPU, layout=layout)]
    texts = MemoryStore().chats
    found = [
        [each for each in (await _told(texts, "w", told)).actions if not isinstance(parse(each[1]), Rest)]
        for told in (slack, discord)
    ]

    if layout is Layout.THREAD:  # its brief has a menu an entry in Slack, one list of them in Discord
        found = [found[0][len(GPU.entries) :], found[1][len(GPU.entries) :]]
    assert found[0] == found[1]
    assert [label for label, _ in found[0][:7]] == ["More", "Less", "Save", "Abstract", "Why", "Similar", "BibTeX"]


def test_a_mail_has_the_items_the_order_and_the_numbers_of_both_chats() -> None:
    slack = [text for each in messages.digest(GPU, layout=Layout.BRIEF, late=False) for text in texts(each.blocks)]
    discord = [text for each in digest_messages(GPU, layout=Layout.BRIEF) for text in contents(each.components)]
    mails = {layout: render(GPU, layout=layout, late=False, links=NO_LINKS) for layout in Layout}

    told = [(str(each.number), each.title, each.address) for each in listed(mails[Layout.BRIEF])]
    assert len(told) == len(GPU.entries)
    assert told == [(number, name, url) for number, url, name in _SLACK_LINE.findall("\n".join(slack))]
    assert told == _DISCORD_LINE.findall("\n".join(discord))
    assert listed(mails[Layout.THREAD]) == listed(mails[Layout.BRIEF])
    for layout in (Layout.THREAD, Layout.FULL):
        assert [(str(each.number), each.address) for each in cards(mails[layout])] == [(each[0], each[2]) for each in told]


@st.composite
def digests(draw: st.DrawFn) -> Digest:
    """Digests as the core makes them: works of any title, upvotes and stars, with what was told of real ones."""
    entries, count = [], st.integers(0, 2_000_000)
    works = st.tuples(st.integers(0, 2), st.text("ab *_~`<&|(){}.#\\n", max_size=30), count)
    drawn = draw(st.lists(works, min_size=1, max_size=12))
    for number, (which, words, upvotes) in enumerate(drawn, start=1):
        like = GPU.entries[which]
        link = Link("page", f"https://arxiv.org/abs/2603.{number:05}")
        known: dict[str, Any] = {
            "key": f"arxiv:2603.{number:05}",
            "kind": Kind.PAPER,
            "stars": None,
            "repo": "",
            "links": (link,),
        }
        item = replace(like.ranked.item, **known, title=f"{words}{number}x", upvotes=upvotes)
        entries.append(card_entry(replace(like.ranked, item=item), like.summary))
    seen = draw(count) + len(entries)
    coverage = replace(GPU.coverage, seen=seen, kept=len(entries), dropped=(("outside the topic", seen - len(entries)),))
    return replace(GPU, entries=tuple(entries), coverage=coverage)


@dataclass(frozen=True, slots=True)
class Shown:
    """What a page shows of digests, whatever stands around it."""

    numbered: list[tuple[str, str]]  # (number, address) of each card
    cards: list[str]  # all words of each
    brief: list[list[str]]  # of each line of the index its title, gist, and facts
    tallies: list[str]
    coverage: list[str]


def _shown(html: str) -> Shown:
    tree = LexborHTMLParser(html)
    for each in tree.css("div.actions"):  # what a person may do there, which a file cannot offer
        each.decompose()
    titles = tree.css("article h3")
    links = [str(each.attributes["href"]) for title in titles for each in title.css("a")]
    return Shown(
        [(each.css(".number")[0].text(), link) for each, link in zip(titles, links, strict=True)],
        [_words(each) for each in tree.css("article")],
        [[_words(each) for each in line.css(".headline, .gist, .byline")] for line in tree.css("ol.entries li")],
        [_words(each) for each in tree.css("header.topic p")],
        [_words(each) for each in tree.css(".coverage")],
    )


def _words(node: LexborNode) -> str:
    return " ".join(node.text().split())


def _plain(text: str) -> str:
    """What is read of a chat's text, but for signs that are markup in either."""
    return " ".join(re.sub(r"[*_~`|\\#<>]|\[|\]", "", unescape(text)).split())


def _in_chats(digest: Digest, layout: Layout) -> tuple[str, str]:
    """All that is read of it in Slack, and in Discord."""
    slack = (text for each in messages.digest(digest, layout=layout, late=False) for text in texts(each.blocks))
    return "\n".join(slack), "\n".join(
        text for each in digest_messages(digest, layout=layout) for text in contents(each.components)
    )


async def _archived(digest: Digest) -> tuple[Shown, Shown, list[LexborHTMLParser]]:
    """What a person reads in the archive, over a socket: the front, the topic's day, and each item's page."""
    ada = asker(MemoryStore(), NOW)
    items = [each.ranked.item for each in digest.entries]
    await ada.context.store.items.add(items, NOW)
    await ada.context.store.digests.save(ada.actor.workspace, ada.actor.channel, digest, NOW)
    async with browsing(sees(ada, ada.actor.channel)) as browser:
        front = await browser.enter(ada)
        day = await browser.get(day_path(digest.topic, digest.day))
        return _shown(front.html), _shown(day.html), [(await browser.get(item_path(each.key))).tree for each in items]


@settings(max_examples=tries(50))
@given(digests())
def test_archive_feed_and_mail_have_the_items_the_order_the_numbers_and_the_words_of_page_and_chats(digest: Digest) -> None:
    (slack, discord), in_full = _in_chats(digest, Layout.BRIEF), _in_chats(digest, Layout.FULL)
    page = _shown(html_page([digest], made_at=_AT, version="1"))
    front, day, of_items = asyncio.run(_archived(digest))
    posted = ArchivedDigest(mark="", digest=digest, saved_at=_AT, channels=("C1",), links=("",))
    feed = read(
        atom(Feed(id=_ID, title="x", about="x", address="https://a.example", updated=_AT, entries=_entries([posted])))
    )

    assert [(str(each.number), each.link) for each in feed] == page.numbered
    assert page.numbered == [(number, url) for number, url, _ in _SLACK_LINE.findall(slack)]
    assert page.numbered == [(number, url) for number, _, url in _DISCORD_LINE.findall(discord)]
    mails = {layout: render(digest, layout=layout, late=False, links=NO_LINKS) for layout in Layout}
    assert page.numbered == [(str(each.number), each.address) for each in listed(mails[Layout.BRIEF])]
    for layout in (Layout.THREAD, Layout.FULL):
        assert page.numbered == [(str(each.number), each.address) for each in cards(mails[layout])]
    assert [each.title for each in feed] == [title(each.ranked.item) for each in digest.entries]
    assert front == day == page
    for entry, shown in zip(digest.entries, of_items, strict=True):
        assert _words(shown.css("h1")[0]) == " ".join(title(entry.ranked.item).split())
        parts = [[_words(each) for each in line.css("dt, dd")] for line in shown.css("dl.parts > div")]
        assert parts == [[name, " ".join(text.split())] for name, text in told_parts(entry)]
        assert [_words(each) for each in shown.css("p.said")] == [entry.gist] * bool(entry.gist)
    by_mail = [Reader(mails[layout].html).text for layout in (Layout.BRIEF, Layout.FULL)]
    told_by = [*zip((slack, discord), in_full, strict=True), by_mail]
    for brief, full in ((_plain(each), _plain(other)) for each, other in told_by):
        said = [*page.tallies, *(each.partition(" kept")[0] for each in page.coverage)]
        assert [each for each in said if each not in brief] == []
        told = [fact for each in digest.entries for fact in (each.gist.rstrip("."), *facts(each))]
        assert [each for each in told if _plain(each) not in brief] == []
        assert [text for each in digest.entries for _, text in told_parts(each) if _plain(text) not in full] == []


async def test_a_private_card_begins_with_its_title_and_offers_the_same_in_both() -> None:
    (slack,), (discord,) = messages.reply(CARD, _DAY), reply_messages(CARD, _DAY)
    texts = MemoryStore().chats

    assert (await _told(texts, "w", [list(slack.blocks)])).actions == (await _told(texts, "w", [discord.components])).actions
    assert [CARD.title in str(each) for each in (slack.blocks, discord.components)] == [False, False]


async def test_below_a_link_stands_the_card_in_both(tmp_path: Path) -> None:
    link = "https://arxiv.org/abs/2603.00001"
    (tmp_path / "slack").mkdir()
    (tmp_path / "discord").mkdir()
    async with (
        slack_desk.sitting(tmp_path / "slack", link_previews=True) as slack,
        discord_desk.sitting(tmp_path / "discord", link_previews=True) as discord,
    ):
        shared = await slack.fake.share(slack.fake.general, f"see {link}")
        await slack.fake.until(lambda: shared.unfurls)
        discord.fake.write(discord.papers, discord.ben, f"see {link}")
        (posted,) = await discord.fake.posted(discord.papers)
        answered_it = await (await slack.fake.command(f"show {link}")).answer()

    card = [*texts([block for block in answered_it.blocks if block["type"] != "actions"])]
    assert [*texts(shared.unfurls[link]["blocks"])] == card
    (said,) = (each["content"].replace("\u00a0", " ") for each in nested(posted.components) if "content" in each)
    assert [each.strip() for each in card if each.strip() not in said] == []
    assert said.count("kernel") == sum(each.count("kernel") for each in card), "and nothing else"


def test_what_is_asked_here_is_every_command() -> None:
    assert {type(parse(text)) for text in asked()} == {usage.command for usage in TABLE}
    assert any(isinstance(parse(text), Subscribe) for text in asked())
