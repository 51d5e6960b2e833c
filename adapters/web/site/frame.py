"""What stands around a page of the archive, and what one may do on it. Pure."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Self
from urllib.parse import quote

from adapters.text import clean
from adapters.web.feeds import atom, json_feed
from adapters.web.site.addresses import command_path, item_path
from bot.commands import Command, Less, More, Profile, ProfileAction, Save, Unsave, read, write
from bot.handlers.feeds.addresses import FeedAddresses, Form
from bot.models import Button

PUBLIC = "/w/"  # below it stands what workspaces show everybody
_HELD = 4_000  # entries whose commands are held as they are written
_FEEDS = 20  # of a page
_FORMS = {Form.ATOM: (atom.MEDIA_TYPE, "Atom"), Form.JSON: (json_feed.MEDIA_TYPE, "JSON Feed")}
_GIVEN = (Less, More, Save, Unsave)
_FOR_ALL = (("Today", "/"), ("Topics", "/topics"))
_HERE = "/saved/here"  # of the channel where the link was asked for
_FOR_PEOPLE = (("Search", "/search"), ("Saved", "/saved"), ("Saved here", _HERE), ("Trends", "/trends"))

_IN_PART = "Only what was posted where you asked for the link is shown: which other channels you see cannot be told now."
_CLOSED = "Nothing is shown: which channels everybody may read cannot be told now."


@dataclass(frozen=True, slots=True)
class Action:
    """A button: either a link to a page, or with a token what is sent to us."""

    label: str
    url: str = ""
    token: str = ""
    danger: bool = False


@dataclass(frozen=True, slots=True)
class Frame:
    """Who reads a page: where its own addresses begin, and what its forms are signed with."""

    root: str = ""  # "/w/3f9a…" of what a workspace shows everybody
    path: str = "/"  # of this page, below the root, with its query
    sign: Callable[[str], str] | None = None  # makes the token of a command; None of a stranger, who can do nothing
    is_partial: bool = False  # not all that its reader may know of could be asked for
    has_channel: bool = False  # its reader may know of the channel where they asked for the link
    places: tuple[tuple[str, str], ...] = ()  # further ones, of other parts: what they are called, and where they stand
    feeds: tuple[tuple[str, str, str], ...] = ()  # of this page: media type, title, address
    has_feeds: bool = True  # stand below it where everybody may read
    whole: Callable[[str], str] | None = None  # the address of a path from everywhere; None of what is not everybody's
    place: Callable[[str], str] | None = None  # leads to what stands at a path, where pages are files; None: below `root`

    @property
    def is_public(self) -> bool:
        """Whether everybody may read it."""
        return self.sign is None

    @property
    def is_file(self) -> bool:
        """Whether the page is written as a file, which no server of ours sends."""
        return self.place is not None

    @property
    def notice(self) -> str:
        """What its reader is told of what is missing; "" where nothing is."""
        if not self.is_partial:
            return ""
        return _CLOSED if self.is_public else _IN_PART

    @property
    def navigation(self) -> list[tuple[str, str, bool]]:
        """What the page leads to from everywhere: label, address, and whether that is this page."""
        people = [each for each in _FOR_PEOPLE if self.has_channel or each[1] != _HERE]
        places = (*_FOR_ALL, *(() if self.is_public else people), *self.places)
        here = self.path.partition("?")[0]
        return [(label, self.at(path), path == here) for label, path in places]

    def item(self, key: str) -> str:
        """Return an item's permalink."""
        return self.at(item_path(key))

    def at(self, path: str) -> str:
        """Return the address of what stands at that path, its parts encoded already."""
        return self.place(path) if self.place else self.root + path

    def with_feeds(self, topics: Iterable[tuple[str, str]], forms: Collection[Form] = (*Form,)) -> Self:
        """Return it for a page that shows these topics, each by its name and title, with their feeds in these forms.

        A person's feeds have addresses of their own, which stand on no page.
        """
        if not self.is_public or not self.has_feeds:
            return self
        below = FeedAddresses("/feeds")
        named = [(name, title, form) for name, title in topics for form in forms]
        feeds = [
            (_FORMS[form][0], f"{title} ({_FORMS[form][1]})", self.at(below.topic(name, form)))
            for name, title, form in named
        ]
        return replace(self, feeds=tuple(feeds[:_FEEDS]))

    def of_entry(self, key: str, topic: str) -> list[Action]:
        """Return what one may do with an entry of a digest of the topic, and its permalink."""
        permalink = Action("Permalink", url=self.item(key))
        if self.sign is None:
            return [permalink]
        return [permalink, *(Action(label, token=self.sign(command)) for label, command in _of_entry(key, topic))]

    def actions(self, buttons: Sequence[Button]) -> list[Action]:
        """Return those of the buttons that a page can have: links to other pages, and what is done by a form."""
        found = (self._action(each) for each in buttons)
        return [each for each in found if each is not None]

    def _action(self, button: Button) -> Action | None:
        command = read(button.command)
        if not isinstance(command, Command):
            return None
        label = clean(button.label)
        if path := command_path(command):
            return None if self.is_public and not path.startswith("/p/") else Action(label, url=self.at(path))
        if self.sign is None or not can_be_given(command):
            return None
        return Action(label, token=self.sign(button.command), danger=button.danger)


@lru_cache(_HELD)
def _of_entry(key: str, topic: str) -> tuple[tuple[str, str], ...]:
    """Return the labels of what is done with an entry, and the commands as they are written."""
    offered = (("More like this", More(key, topic)), ("Less", Less(key, topic)), ("Save", Save(key)))
    return tuple((label, write(command)) for label, command in offered)


def can_be_given(command: Command) -> bool:
    """Say whether a form of a page gives this command: what one says of an item or puts aside, and what takes it back."""
    undoes = isinstance(command, Profile) and command.action is ProfileAction.UNDO
    return (undoes or isinstance(command, _GIVEN)) and not command.place


def public_root(slug: str) -> str:
    """Return where the pages begin that a workspace shows everybody."""
    return f"{PUBLIC}{quote(slug, safe='')}"
