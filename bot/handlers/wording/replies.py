"""What replies are made of: names and numbers as people type them, buttons, and who is mentioned. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from bot.commands import Command, Less, More, Now, Save, Show, ShowTopic, Similar, Subscribe, Unsubscribe, write
from bot.models import Button, Item, Reply, Rhythm, Summary, Topic
from bot.summarise.extractive import MADE_BY
from bot.wording import shortened, some

SHOWN = 60  # characters of what was typed that an answer repeats
_LISTED = 9  # things of a list that an error names


def excerpt(text: str) -> str:
    """Return what was typed, short enough to be repeated in a sentence."""
    return shortened(text[: 4 * SHOWN], SHOWN)


def read_number(text: str, most: int) -> int | None:
    """Return the number from 1 to `most` that was typed, as "3" or "#3"; None when it is none of these."""
    number = text.strip().removeprefix("#")
    return int(number) if re.fullmatch(r"[0-9]{1,3}", number) and 1 <= int(number) <= most else None


def as_numbered_list(said: Sequence[str]) -> str:
    """Return "1. title; 2. abstract", as `read_number` takes them; of more than nine how many there are besides."""
    return some([f"{number}. {excerpt(each)}" for number, each in enumerate(said, 1)], _LISTED, "; ")


def one_line(text: str) -> str:
    """Return the text on one line, without blanks around it."""
    return " ".join(text.split())


def summary_origin(summary: Summary) -> str:
    """Return what a summary was made from and by: "from the abstract, extracted", "from the abstract by gpt-x; …".

    The summary's note, why a part of it stands in for another, follows.
    """
    made = "extracted" if summary.made_by == MADE_BY else f"by {summary.made_by}" if summary.made_by else ""
    joint = ", " if summary.made_by == MADE_BY else " "
    told = joint.join(filter(None, (f"from the {summary.read}" if summary.read else "", made)))
    return "; ".join(filter(None, (told, summary.note.rstrip("."))))


def title_of(topics: Mapping[str, Topic], name: str) -> str:
    """Return the topic's title, or its name when the topic is not there any more."""
    return topics[name].title if name in topics else name


def title_or_key(item: Item) -> str:
    """Return the item's title, or its key when it has none."""
    return one_line(item.title) or item.key


def text_name(key: str) -> str:
    """Return what the whole text of such an item is called: "Abstract" of a paper, "README" of a repository, "Text"."""
    return {"github": "README", "url": "Text"}.get(key.partition(":")[0], "Abstract")


def button(label: str, command: Command, *, danger: bool = False) -> Button:
    """Return the button that gives this command."""
    return Button(label, write(command), danger)


def preview_button(topic: str) -> Button:
    """Return the button that previews the next digest of the topic."""
    return button("Preview", Now(topic))


def show_button(topic: str) -> Button:
    """Return the button that shows what the topic is made of."""
    return button("Show", ShowTopic(topic))


def subscribe_button(topic: str) -> Button:
    """Return the button that subscribes the channel to the topic, as is usual."""
    return button("Subscribe", Subscribe(topic=topic))


def unsubscribe_button(topic: str, rhythm: Rhythm | None = None) -> Button:
    """Return the button that ends the channel's subscription to the topic, of that rhythm where it has several."""
    return button("Unsubscribe", Unsubscribe(topic, rhythm), danger=True)


def item_buttons(item: Item, topic: str = "") -> tuple[Button, ...]:
    """Return the buttons under an item: more and less of it, for the topic where one is named, to save it, what is close."""
    return (
        button("More like this", More(item.key, topic)),
        button("Less", Less(item.key, topic)),
        button("Save", Save(item.key)),
        button("Similar", Similar(item.key)),
    )


def title_buttons(item: Item, topic: str) -> tuple[Button, ...]:
    """Return the buttons of an item in a list of titles: its card, which has all others, and what needs no look at it."""
    return (
        button("Details", Show(item.key, topic)),
        button("More like this", More(item.key, topic)),
        button("Save", Save(item.key)),
    )


def mentioning(reply: Reply, *, channels: Iterable[str] = (), people: Iterable[str] = ()) -> Reply:
    """Return the reply with those of the identifiers told apart that stand in its texts as whole words."""
    words = {word for text in _texts(reply) for word in _words(text)}
    return replace(
        reply,
        channels=tuple(sorted({*reply.channels, *channels} & words)),
        people=tuple(sorted({*reply.people, *people} & words)),
    )


def _texts(reply: Reply) -> Iterator[str]:
    yield from (reply.title, *reply.text, *reply.next_steps)
    for field in reply.fields:
        yield field.value
    for entry in reply.entries:
        yield from (entry.title, *entry.lines)


def _words(text: str) -> Iterator[str]:
    """Yield what stands between blanks, without the signs of a sentence around it; a Discord name may be "@123"."""
    for word in text.split():
        yield re.sub(r"^[*(“\"]+|[*).,:;!?”\"]+$", "", word)
