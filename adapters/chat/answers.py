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
