"""The commands that say what a topic is for: more, less, profile."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Self

from bot.commands.declaration import (
    Argument,
    Command,
    ForTopic,
    Group,
    ItemBeforeTopic,
    Option,
    Permission,
    TopicNamed,
    declared,
    end,
    formatted,
    text,
    topic_name,
)
from bot.commands.words import Words, item_text


@declared("more", Group.FEEDBACK, example="more 3 for gpu-systems", aliases=("like", "upvote", "+1"))
@dataclass(frozen=True, slots=True)
class More(Command):
    """Say that an item is what a topic is for; *profile* takes it back."""

    item: ItemBeforeTopic
    topic: ForTopic = ""


@declared("less", Group.FEEDBACK, example="less owner/name for gpu-systems", aliases=("dislike", "downvote", "-1"))
@dataclass(frozen=True, slots=True)
class Less(Command):
    """Say that an item is not what a topic is for; *profile* takes it back."""

    item: ItemBeforeTopic
    topic: ForTopic = ""


class ProfileAction(StrEnum):
    """What to do with what a topic learned."""

    SHOW = "show"
    UNDO = "undo"  # take back what one said of an item, or said last
    RESET = "reset"
    EXPORT = "export"


@declared("profile", Group.FEEDBACK, example="profile gpu-systems", permission=Permission.SOME, aliases=("taste", "learned"))
@dataclass(frozen=True, slots=True)
class Profile(Command):
    """Show, undo, reset or export what a topic has learned from more and less."""

    topic: TopicNamed
    action: Annotated[
        ProfileAction,
        Argument("[show|undo [ITEM]|reset|export]", formatted("{}")),
        Option(help="What to do; without it, the profile is shown."),
    ] = ProfileAction.SHOW
    item: Annotated[str, Argument("", text), Option(help="For undo: what you said of this item.", suggests="item")] = ""

    @classmethod
    def read(cls, words: Words) -> Self:
        """Read `profile TOPIC [ACTION]`; behind `undo` stands an item."""
        topic = topic_name(words, cls.usage)
        word = words.take(*ProfileAction)
        action = ProfileAction(word.option) if word else ProfileAction.SHOW
        item = item_text(words.rest()) if action is ProfileAction.UNDO else ""
        end(words, cls.usage)
        return cls(topic, action, item)
