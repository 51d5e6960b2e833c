"""What a person is told, in whatever chat, when their answer may not have arrived whole. Pure.

`chat` is the platform's name: "Slack".
"""

from collections.abc import Sequence

from bot.models import Reply

NOT_POSTED = "It could not be posted in the channel, so you alone see it."  # what is for everybody in it


def may_be_missing(chat: str, which: Sequence[int] = (), of: int = 1) -> Reply:
    """Tell that something of a private answer may be missing: which of so many messages, where that is known."""
    said = f"{chat} did not say whether it took {_parts(which, of)}. Where something is missing, ask again."
    return Reply(title="A part of the answer may be missing", text=(said,))


def may_not_be_posted(chat: str, which: Sequence[int] = (), of: int = 1) -> Reply:
    """Tell that an answer for everybody in the channel, or some of it, may be missing there; it is not posted again."""
    if not which or len(which) == of:
        said = f"{chat} did not say whether it took the answer for the channel, so it is not posted again."
    else:
        said = f"{chat} did not say whether it took {_parts(which, of)} for the channel; the rest of it stands there."
    return Reply(title="The answer may be missing in the channel", text=(said, "What you asked for is done."))


def _parts(which: Sequence[int], of: int) -> str:
    if not which or of == 1:
        return "all of the answer"
    *others, last = map(str, which)
    return f"parts {', '.join(others)} and {last} of {of}" if others else f"part {last} of {of}"


def not_opened(chat: str) -> Reply:
    """Tell that a form or a window was not opened."""
    return Reply(title="It could not be opened", text=(f"{chat} did not open it in time. Please ask again.",))


def not_taken(chat: str) -> str:
    """Tell in a sentence that an answer cannot be shown, however plain it is."""
    return f"{chat} does not take the answer. Ask for less, or in other words; the log says why, for who runs Broadsheet."


def unreadable(chat: str) -> str:
    """Tell in a sentence that what somebody did could not be read."""
    return f"{chat} sent this in a form that I could not read. It stands in the log, for who runs Broadsheet."


def stopped() -> Reply:
    """Tell that the service ended before what was asked was done."""
    said = "Broadsheet was stopped before the answer was there. When it runs again, see whether it was done, or ask again."
    return Reply(title="Stopped before the end", text=(said,))


def takes_long() -> Reply:
    """Tell that an answer comes later than the platform lets us answer."""
    return Reply(title="This takes long", text=("The answer comes by itself when it is there.",))
