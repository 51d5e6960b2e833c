"""What a person is told, in whatever chat, when their answer may not have arrived whole. Pure.

`chat` is the platform's name: "Slack".
"""

from bot.models import Reply


def may_be_missing(chat: str) -> Reply:
    """Tell that something of a private answer may be missing."""
    said = f"{chat} did not say whether it took all of the answer. Where something is missing, ask again."
    return Reply(title="A part of the answer may be missing", text=(said,))


def may_not_be_posted(chat: str) -> Reply:
    """Tell that an answer for everybody in the channel may be missing there; it is not posted again."""
    said = f"{chat} did not say whether it took the answer for the channel, so it is not posted again."
    return Reply(title="The answer may be missing in the channel", text=(said, "What you asked for is done."))


def not_opened(chat: str) -> Reply:
    """Tell that a form or a window was not opened."""
    return Reply(title="It could not be opened", text=(f"{chat} did not open it in time. Please ask again.",))


def stopped() -> Reply:
    """Tell that the service ended before what was asked was done."""
    said = "I was stopped before I had the answer; I am back in a moment. See whether it was done, and ask again."
    return Reply(title="Stopped before the end", text=(said,))


def takes_long() -> Reply:
    """Tell that an answer comes later than the platform lets us answer."""
    return Reply(title="This takes long", text=("The answer comes by itself when it is there.",))
