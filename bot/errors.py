"""Every error that Broadsheet raises on purpose.

    BotError
    ├── UsageError            a person asked for something that cannot be done as asked; the sentence says what to do
    │   ├── Unclear             what was named may be several things; each is offered
    │   ├── Misfit              a field of a form cannot be as it is
    │   └── Conflict            somebody else changed it in between; the sentence says how it stands now
    ├── SourceError           a source did not deliver
    │   ├── SourceUnavailable   not now: network, refusal, rate limit; worth trying again later
    │   └── SourceChanged       it answered in a shape we do not know; trying again will not help
    ├── SummaryUnavailable    no summary could be made; an extractive one takes the place of a language model's
    ├── EmbeddingUnavailable  a text's vector cannot be had now; words alone decide until it can
    ├── DeliveryError         a platform did not take a message
    │   ├── Refused             and will not: archived, not a member, revoked; trying again will not help
    │   ├── Rejected            nothing was posted, and it is not known whether the next message will be taken
    │   ├── Delayed             nothing was posted; worth trying again later
    │   └── Uncertain           it may have been posted
    ├── ProcessFailed         what was given to a process of its own was not computed
    ├── StoreError            the database did not do what it must; nothing is posted after one
    │   └── Superseded          a newer version has changed it so that this one may not go on with it
    └── SettingsError         the operator's settings cannot be used; the sentence names the setting

The text of each is one sentence a person can act on. Foreign exceptions are translated where they enter, the cause kept.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Any


class BotError(Exception):
    """The root: catch it where any failure that we foresaw is handled alike."""


class UsageError(BotError):
    """A person's mistake.

    `position` is where in the text it was found (0-based, in characters), or None; `hint` is a suggestion, or "".
    """

    def __init__(self, message: str, *, position: int | None = None, hint: str = "") -> None:
        super().__init__(message)
        self.position = position
        self.hint = hint


class Unclear(UsageError):
    """What was named may be several things.

    `choices` are (label, value) pairs: the command means one thing when its field `field` is one of the values, or when
    several fields are as the mapping says that the value is.
    """

    def __init__(self, message: str, field: str, choices: Sequence[tuple[str, str | Mapping[str, Any]]]) -> None:
        super().__init__(message)
        self.field = field
        self.choices = tuple(choices)


class Misfit(UsageError):
    """A field of a form cannot be as it is.

    `field` names it: name, a part of a topic (bot.commands.Part), query; days, at, zone, entries, min, filter.
    """

    def __init__(self, message: str, field: str, *, position: int | None = None, hint: str = "") -> None:
        super().__init__(message, position=position, hint=hint)
        self.field = field


class Incomplete(UsageError):
    """A command says too little to be done; a form can be filled in instead.

    `form` says of what: subscription, topic, filter; `topic` names the one that it is about, "" for one to be chosen, and
    `channel` the one that it is for, "" for that in which the command was given.
    """

    def __init__(self, error: UsageError, form: str, topic: str = "", channel: str = "") -> None:
        super().__init__(str(error), position=error.position, hint=error.hint)
        self.form = form
        self.topic = topic
        self.channel = channel


class Conflict(UsageError):
    """What was to be changed is no longer what it was when it was read. Nothing was changed.

    `people` are those whom the sentences name, as in bot.models.Reply.
    """

    people: tuple[str, ...] = ()


class SourceError(BotError):
    """A source did not deliver; the round goes on without it and the digest's footer says so."""


class NetworkFault(StrEnum):
    """What failed on the way to a host, before it said anything; each value is a sentence about the host."""

    NAME = "its name could not be resolved"
    CONNECTION = "the connection failed"
    TLS = "no encrypted connection came about"
    PROXY = "the proxy did not let it through"
    TIMEOUT = "no answer came in time"


class SourceUnavailable(SourceError):
    """The source cannot be had now. `retry_after` is how long it asked us to wait, or None when it did not say.

    `fault` is what of the network failed, None where the source was reached.
    """

    def __init__(self, message: str, *, retry_after: timedelta | None = None, fault: NetworkFault | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.fault = fault


class SourceChanged(SourceError):
    """The source answered in a shape that we do not know."""


class SummaryUnavailable(BotError):
    """A summariser has no usable answer."""


class EmbeddingUnavailable(BotError):
    """An embedder has no vectors now. `retry_after` is how long to wait, or None when nobody said."""

    def __init__(self, message: str, *, retry_after: timedelta | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ProcessFailed(BotError):
    """A process that was to compute something did not. `is_temporary`: another time it may."""

    def __init__(self, message: str, *, is_temporary: bool = False) -> None:
        super().__init__(message)
        self.is_temporary = is_temporary


class Reach(StrEnum):
    """How much of a platform an error speaks of."""

    CHANNEL = "channel"
    WORKSPACE = "workspace"
    PLATFORM = "platform"


class DeliveryError(BotError):
    """A platform did not take a message. `reach` says for what else the same holds."""

    def __init__(self, message: str, *, reach: Reach = Reach.CHANNEL) -> None:
        super().__init__(message)
        self.reach = reach


class Refused(DeliveryError):
    """It never will: the channel is gone or closed to us, or the token is revoked; its code is known to say so."""


class Rejected(DeliveryError):
    """It did not take this message, and nothing was posted; no code says that it would not take the next one.

    `failure` names what failed, so that two can be compared: "status 400, code 50035"; nothing secret, no part of the
    message and no name of a place stands in it. `of_message`: it is known to speak of what the message says.
    """

    def __init__(self, message: str, *, failure: str, of_message: bool = False, reach: Reach = Reach.CHANNEL) -> None:
        super().__init__(message, reach=reach)
        self.failure = failure
        self.of_message = of_message


class Delayed(DeliveryError):
    """Nothing was posted. `retry_after` is how long the platform asked us to wait, or None when it did not say.

    `here`: it is this process, or this machine's address, that is to wait; another one may be taken something.
    """

    def __init__(
        self, message: str, *, reach: Reach = Reach.CHANNEL, retry_after: timedelta | None = None, here: bool = False
    ) -> None:
        super().__init__(message, reach=reach)
        self.retry_after = retry_after
        self.here = here


class Uncertain(DeliveryError):
    """It may have been posted: the answer was lost, or says so itself."""


class StoreError(BotError):
    """The database failed; whatever was being written is not half there."""


class Superseded(StoreError):
    """The database was changed by a newer version so that this one may not use it any more."""


class SettingsError(BotError):
    """The settings cannot be used as they are."""
