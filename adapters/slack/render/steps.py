"""An answer as what a step of a workflow gives on: a text, how many entries it has, and where the first one leads. Pure.

Whoever builds the workflow decides where the text goes. It is plain and without markup: Slack parses a variable in some
places and shows it as it is in others, and in neither may a title become a link or a mention.
"""

import re
from collections.abc import Iterator
from datetime import date
from typing import Any

from adapters.slack.render.blocks import JOINER, literal
from adapters.slack.render.limits import units
from adapters.text import clean, cut
from adapters.words import (
    COMMAND,
    card_facts,
    coverage_line,
    digest_name,
    empty_sentence,
    facts,
    first_link,
    masthead,
    spans,
    title,
)
from bot.models import Digest, Entry, Item, Reply

_TITLE = 200  # characters, as `units` counts them
_GIST = 300
_FACTS = 200
_SENTENCE = 500
_ADDRESS = 1_000
# What would begin a link or a mention, or an emphasis, should Slack parse the text: signs that look alike take its place.
_SIGNS = str.maketrans({"<": "‹", ">": "›", "*": "∗", "`": "ˋ", "~": "∼"})
_UNDERSCORE = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])")
# What Slack takes by itself for a mention, an address or an emoji, where it parses a text whole ("parse": "full").
_TAKEN = re.compile(r"[@#](?=\w)|(?<=\w)\.(?=[^\W\d_]{2})|:(?=//|[\w+'-]+:)")


def outputs(reply: Reply, today: date) -> dict[str, Any]:
    """Return the outputs of a step, as adapters/slack/install/steps.py declares them."""
    told = [*_entries(reply, today)]
    head = [] if reply.digests or reply.cards else [reply.title]
    pieces = [
        *("\n".join([*map(_sentence, head), *map(_sentence, reply.text)]),),
        *(_masthead(each) for each in reply.digests),
        *(each for each, _ in told),
        *(_plain(coverage_line(each), _SENTENCE) for each in reply.digests),
    ]
    link = next((url for _, url in told if url), "")
    given_on = {"text": "\n\n".join(filter(None, pieces)), "count": len(told)}
    return given_on | ({"link": link} if link else {})


def sentence_of(reply: Reply) -> str:
    """Return why a step failed: what the answer says, in one line."""
    said = reply.text or (reply.title,)
    return " ".join(map(_sentence, said))


def _masthead(digest: Digest) -> str:
    head = _plain(f"{digest_name(digest)} · {masthead(digest)}", _SENTENCE)
    return head if digest.entries else f"{head}\n{_plain(empty_sentence(digest), _SENTENCE)}"


def _entries(reply: Reply, today: date) -> Iterator[tuple[str, str]]:
    """Yield each entry's text with its address."""
    number = 0
    for each in reply.entries:
        if each.item is not None:
            number += 1
            yield _told(number, each.item, each.gist)
    for card in reply.cards:
        yield _told(0, card.ranked.item, card.gist, " · ".join(card_facts(card, today)))
    for entry in (entry for digest in reply.digests for entry in digest.entries):
        number += 1
        yield _of_digest(number, entry)


def _of_digest(number: int, entry: Entry) -> tuple[str, str]:
    return _told(number, entry.ranked.item, entry.gist, " · ".join(facts(entry)))


def _told(number: int, item: Item, gist: str, known: str = "") -> tuple[str, str]:
    mark, url = f"{number}. " if number else "", first_link(item)
    said = " · ".join(filter(None, (_plain(gist, _GIST), _plain(known, _FACTS))))
    address = url if len(url) <= _ADDRESS and not set(url) & set("<>|") else ""
    return "\n".join(filter(None, (f"{mark}{_plain(title(item), _TITLE)}", said, address))), address


def _sentence(text: str) -> str:
    return _plain("".join(words for words, _ in spans(clean(text), COMMAND)), _SENTENCE)


def _plain(text: str, most: int) -> str:
    said = _UNDERSCORE.sub(lambda found: "ˍ" * len(found[0]), cut(clean(text), most, units).translate(_SIGNS))
    return literal(_TAKEN.sub(lambda found: found[0] + JOINER, said))
