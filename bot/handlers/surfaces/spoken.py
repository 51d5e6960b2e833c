"""What is answered to somebody who writes to us in a message, where a command would have been acknowledged first."""

from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from enum import Enum

from bot.commands import Command, Heard, Help, Search, Show, Similar, SmallTalk, Unreadable
from bot.handlers.wording.replies import button
from bot.models import Reply

Ask = Callable[[Command | Unreadable], Awaitable[Reply]]  # returns what is answered to a command; raises nothing

_GREETING = Reply(
    title="Ask me for papers and repositories",
    text=("In your own words, such as *kv cache compression*, or with a link to one: I answer with its card.",),
    buttons=(button("Help", Help()),),
)
# What may be read by everybody in a channel: it tells nothing of who asks, and changes nothing.
_OPEN = (Help, Search, Show, Similar)


async def answer_heard(heard: Heard, ask: Ask) -> Reply:
    """Return what is answered to a message that asks for something, or greets; thanks are for the caller to leave alone."""
    if isinstance(heard.asked, SmallTalk):
        return _GREETING
    reply = await ask(heard.asked)
    if heard.otherwise is not None and not (reply.entries or reply.cards):
        return await ask(heard.otherwise)
    return reply


def may_be_open(heard: Heard) -> bool:
    """Say whether the answer may stand where everybody reads it, on a platform that shows no message to one person alone."""
    return not isinstance(heard.asked, Command) or isinstance(heard.asked, _OPEN)


def for_one_alone(command: Command) -> Reply:
    """Return what is said openly in the place of an answer that is not: who presses the button is answered alone."""
    said = "Here everybody reads what I say. The button does it, and answers you alone; or write to me directly."
    return Reply(title="For you alone", text=(said,), buttons=(button("Answer me alone", command),), private=False)


def too_many() -> Reply:
    """Tell somebody that they ask more than is answered in a minute."""
    return Reply(
        title="One moment", text=(f"I answer {MOST} messages a minute to one person. Please try again in a minute.",)
    )


class Turn(Enum):
    """What becomes of somebody's next message."""

    ANSWERED = 1
    TOLD = 2  # the first that is too many: that is said
    LEFT = 3  # said already


MOST = 10  # messages of one person that are answered within
SPAN = timedelta(minutes=1)
_PEOPLE = 10_000  # remembered


class MessageRate:
    """Bounds how much one person is answered, so that nobody keeps the others waiting."""

    def __init__(self) -> None:
        self._came: OrderedDict[str, deque[datetime]] = OrderedDict()

    def turn(self, person: str, now: datetime) -> Turn:
        """Note a message of the person, whom the name tells from everybody else, and say what becomes of it."""
        came = self._came.setdefault(person, deque())
        self._came.move_to_end(person)
        if len(self._came) > _PEOPLE:
            self._came.popitem(last=False)
        while came and not timedelta(0) <= now - came[0] < SPAN:
            came.popleft()
        if len(came) > MOST:
            return Turn.LEFT
        came.append(now)
        return Turn.ANSWERED if len(came) <= MOST else Turn.TOLD
