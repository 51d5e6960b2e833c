"""What a link in a mail leads to: a question with a button, and who acts by pressing it.

Nothing is done by following a link. Who has it acts as the recipient did in the chat, for that mail's subscription alone: by
the same commands, of which no others can be given than those that links have and what takes them back.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.commands import (
    Command,
    Follow,
    Less,
    More,
    Pause,
    Profile,
    ProfileAction,
    Resume,
    Save,
    Subscribe,
    Unsave,
    Unsubscribe,
    read,
)
from bot.digest.due import describe
from bot.handlers.context import HandlerContext
from bot.handlers.links import LinkAction, LinkSigner, SignedButton, SignedLink, letter_hash
from bot.handlers.subscriptions.times import pause_in_words
from bot.handlers.wording.elsewhere import for_channel
from bot.handlers.wording.replies import button, title_of
from bot.models import EMAIL, Actor, Button, Item, Recipient, Reply, ReplyEntry, Subscription, Suppression

_OF_ITEMS = frozenset({LinkAction.MORE, LinkAction.LESS, LinkAction.SAVE})
_GIVEN = (Follow, Less, More, Pause, Resume, Save, Subscribe, Unsave, Unsubscribe)


@dataclass(frozen=True, slots=True)
class Linked:
    """What a link stands for."""

    link: SignedLink
    recipient: Recipient
    subscription: Subscription
    topic: str  # its title
    item: Item | None  # of an action on one


@dataclass(frozen=True, slots=True)
class Pressed:
    """A command, and who gives it."""

    recipient: Recipient
    actor: Actor
    command: Command


async def linked(context: HandlerContext, link: SignedLink) -> Linked | None:
    """Return what a link stands for whose signature holds.

    None where its subscription or item is not there (any more), and where several read the mail: nobody knows then who acts.
    """
    recipients = context.store.recipients
    subscription = await recipients.subscription(link.subscription)
    recipient = None if subscription is None else await recipients.named(subscription.channel)
    if subscription is None or recipient is None or recipient.is_list or recipient.workspace != subscription.workspace:
        return None
    if bool(link.item) is not (link.action in _OF_ITEMS):
        return None
    item = (await context.store.items.find([link.item])).get(link.item) if link.item else None
    if link.item and item is None:
        return None
    topic = title_of(await context.topics(subscription.workspace), subscription.topic)
    return Linked(link, recipient, subscription, topic, item)


def letters_of(link: SignedLink) -> str:
    """Return the hash of the address to which a link ends the letters with codes; "" for another link."""
    return letter_hash(link.subscription) if link.action is LinkAction.UNSUBSCRIBE and not link.item else ""


async def end_letters(context: HandlerContext, hashed: str, now: datetime) -> Reply:
    """Let no more codes be sent to the address of that hash, and return what is told; raises StoreError."""
    await context.store.recipients.refuse_letters(hashed, Suppression.COMPLAINED, now)
    said = "For a year no codes are sent to the address of that mail, whoever asks. What is subscribed there goes on."
    return Reply(title="No more codes are sent", text=(said,))


async def question(linked: Linked, now: datetime) -> Reply:
    """Return what is asked of who follows the link, with the button that does it."""
    entries = (ReplyEntry(linked.item),) if linked.item is not None else ()
    title, text, label = _asked(linked)
    command = command_of(linked)
    if linked.link.action is LinkAction.PAUSE and linked.subscription.is_paused(now):
        paused = for_channel(await pause_in_words(linked.subscription, now), _actor(linked.recipient))
        title, text, label = f"{linked.topic} is paused", f"{paused}.", "Resume"
        command = Resume(linked.subscription.topic, linked.subscription.rhythm)
    danger = linked.link.action is LinkAction.UNSUBSCRIBE
    return Reply(title=title, text=(text,), entries=entries, buttons=(button(label, command, danger=danger),))


def _asked(linked: Linked) -> tuple[str, str, str]:
    """Return the question, what follows from yes, and the button's label."""
    topic, when = linked.topic, describe(linked.subscription.schedule)
    match linked.link.action:
        case LinkAction.MORE:
            ranked = "From the next digest on, what is like it is ranked higher."
            return f"More like this in {topic}?", ranked, "More like this"
        case LinkAction.LESS:
            return (
                f"Less like this in {topic}?",
                "From the next digest on, what is like it is ranked lower.",
                "Less like this",
            )
        case LinkAction.SAVE:
            return "Save this?", "It is put among what you saved; *saved* lists that in the chat.", "Save"
        case LinkAction.PAUSE:
            return (
                f"Pause {topic}?",
                f"Nothing more of its digest, {when}, comes to your inbox until you resume it.",
                "Pause",
            )
        case LinkAction.UNSUBSCRIBE:
            ended = f"Nothing more of its digest, {when}, comes to your inbox."
            return f"Unsubscribe from {topic}?", ended, "Unsubscribe"


def command_of(linked: Linked) -> Command:
    """Return the command that the link's button gives."""
    topic, rhythm = linked.subscription.topic, linked.subscription.rhythm
    key = linked.item.key if linked.item is not None else ""
    match linked.link.action:
        case LinkAction.MORE:
            return More(key, topic)
        case LinkAction.LESS:
            return Less(key, topic)
        case LinkAction.SAVE:
            return Save(key)
        case LinkAction.PAUSE:
            return Pause(topic, rhythm=rhythm)
        case LinkAction.UNSUBSCRIBE:
            return Unsubscribe(topic, rhythm)


def pressed(linked: Linked) -> Pressed:
    """Return who gives the link's own command."""
    return Pressed(linked.recipient, _actor(linked.recipient), command_of(linked))


async def pressed_button(context: HandlerContext, signed: SignedButton) -> Pressed | None:
    """Return what a signed button does, and who does it; None where nothing is sent to them any more by that channel."""
    recipient = await context.store.recipients.named(signed.channel)
    command = _given(signed.command)
    if recipient is None or recipient.is_list or command is None:
        return None
    return Pressed(recipient, _actor(recipient), command)


_THIS = "this address"


def _actor(recipient: Recipient) -> Actor:
    # What comes to one's own inbox is one's own to pause and to end, whoever may change what is posted in channels.
    return Actor(
        platform=EMAIL,
        workspace=recipient.workspace,
        channel=recipient.channel,
        person=recipient.person,
        may_administer=True,
        place=_THIS,
        is_direct=True,
    )


def _given(typed: str) -> Command | None:
    command = read(typed)
    undoes = isinstance(command, Profile) and command.action is ProfileAction.UNDO
    return (
        command if isinstance(command, Command) and (undoes or isinstance(command, _GIVEN)) and not command.place else None
    )


def with_tokens(reply: Reply, signer: LinkSigner, subscription: str, channel: str, now: datetime) -> Reply:
    """Return the reply with those of its buttons that can be pressed on a page, each carrying the token of its command."""
    return replace(reply, buttons=tuple(_signed(reply.buttons, signer, subscription, channel, now)))


def _signed(
    buttons: Sequence[Button], signer: LinkSigner, subscription: str, channel: str, now: datetime
) -> Sequence[Button]:
    given = [each for each in buttons if _given(each.command) is not None]
    return [replace(each, command=signer.button(subscription, channel, each.command, now)) for each in given]


def told_by_page(reply: Reply, actor: Actor) -> Reply:
    """Return the reply with its commands as they are typed in the chat for the same address, and without questions.

    A page has no buttons that would answer them: what leads on from there is for the chat. It never says the address, as who
    has the link may have been passed the mail.
    """
    text = tuple(_for_address(each, actor) for each in reply.text if not each.endswith("?"))
    return replace(reply, text=text, next_steps=tuple(_for_address(each, actor) for each in reply.next_steps))


def _for_address(sentence: str, actor: Actor) -> str:
    """Return a sentence of ours in which the commands that take an address say that this one follows."""
    placed = for_channel(sentence, replace(actor, place="…"))  # so it names the channel
    return placed.replace(f" {actor.channel}*", f"*, followed by {_THIS},").replace(actor.channel, "ADDRESS")


async def note_pressed(context: HandlerContext, pressed: Pressed, now: datetime) -> None:
    """Remember that an address is not to be written to once nothing is subscribed by it any more; lift that where it is.

    To be called after a button was pressed. Who ended everything confirms anew before anything is sent there again, unless
    they take it back by the button. A reason of more weight, such as a complaint, stays.
    """
    recipients, whose = context.store.recipients, pressed.recipient
    left = await context.store.workspaces.subscriptions(whose.workspace, channel=whose.channel)
    if isinstance(pressed.command, Unsubscribe) and not left:
        if await recipients.suppression(whose.workspace, whose.address) is None:
            await recipients.suppress(whose.address, Suppression.UNSUBSCRIBED, now, workspace=whose.workspace)
    elif isinstance(pressed.command, Subscribe | Follow) and left:
        await recipients.lift(whose.workspace, whose.address, Suppression.UNSUBSCRIBED)
