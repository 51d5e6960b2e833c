"""The commands about what one put aside: save, unsave, saved."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Self

from bot.commands.declaration import (
    Argument,
    Command,
    Group,
    ItemName,
    Option,
    PageNumber,
    Place,
    declared,
    end,
    flag,
    formatted,
    page_number,
)
from bot.commands.words import Words


@declared("save", Group.SAVED, example="save 2606.01234", aliases=("bookmark", "star"))
@dataclass(frozen=True, slots=True)
class Save(Command):
    """Put an item aside for yourself."""

    item: ItemName


@declared("unsave", Group.SAVED, example="unsave 2606.01234", aliases=("unbookmark", "unstar"))
@dataclass(frozen=True, slots=True)
class Unsave(Command):
    """Take an item back from what you saved."""

    item: ItemName


class Format(StrEnum):
    """A form in which saved items are exported."""

    BIBTEX = "bibtex"
    RIS = "ris"
    MARKDOWN = "markdown"


_FORMS = {form.value: form for form in Format} | {"bib": Format.BIBTEX, "md": Format.MARKDOWN}


@declared(
    "saved",
    Group.SAVED,
    example="saved bibtex",
    aliases=("bookmarks", "list saved"),
    order=("here", "form", "page", "channel"),
)
@dataclass(frozen=True, slots=True)
class ListSaved(Command):
    """List what you saved, or hand it over as a file; with *here*, what anybody saved in the channel, without names."""

    form: Annotated[
        Format | None,
        Argument(f"[{'|'.join(Format)}]", formatted("{}")),
        Option(name="format", help="As a file."),
    ] = None
    page: PageNumber = 1
    here: Annotated[bool, flag("here"), Option(help="What anybody saved in this channel, instead of what you did.")] = False
    channel: Place = ""

    def __post_init__(self) -> None:
        """See to it that of a channel that is named its own list is meant."""
        if self.channel:
            object.__setattr__(self, "here", True)

    @classmethod
    def read(cls, words: Words) -> Self:
        """Read the form, the page and `here`, in any order."""
        form: Format | None = None
        page: int | None = None
        here = False
        while (word := words.peek()) is not None:
            if words.take("as", "export"):
                continue
            if not here and words.take("here"):
                here = True
                continue
            if form is None and word.option in _FORMS:
                words.next()
                form = _FORMS[word.option]
            elif page is None and (words.split("page") or words.take("page")):
                page = page_number(words)
            else:
                end(words, cls.usage)
        return cls(form, page or 1, here)
