"""Buttons under replies: each carries a command as it would be typed. Pure."""

from bot.commands import Command, Now, ShowTopic, Subscribe, Unsubscribe, write
from bot.models import Button


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


def unsubscribe_button(topic: str) -> Button:
    """Return the button that ends the channel's subscription to the topic."""
    return button("Unsubscribe", Unsubscribe(topic), danger=True)
