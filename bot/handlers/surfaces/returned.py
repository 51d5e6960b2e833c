"""What follows from a mail that came back: a bounce, a complaint, a wish to hear no more.

Whoever knows an address could write such a mail. It is believed only where it proves that it answers a mail of ours: by the
identifier of a delivery to that recipient, which nobody can guess, or by the signature that its way to unsubscribe carries.
A letter with a code, whose address may be nobody's here, carries one too.
Nothing here tells an address on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.commands import Unsubscribe
from bot.errors import Reach
from bot.handlers.context import HandlerContext
from bot.handlers.links import LinkAction, LinkSigner, SignedLink, letter_hash
from bot.handlers.subscriptions.subscribe import unsubscribe
from bot.handlers.subscriptions.subscription_change import change_of
from bot.handlers.surfaces.linked import linked, note_pressed, pressed
from bot.handlers.wording.replies import title_of
from bot.models import EMAIL, Actor, Notice, Recipient, Refusal, Subscription, Suppression, folded_address
from bot.models.mail import address_hash
from bot.models.people import SERVICE
from bot.ports.facts import time_of_fact
from bot.wording import listed, ordinal

COMPLAINED = "Who reads it marked a mail as spam."
_COMPLAINED_TOLD = (
    f"{COMPLAINED} Nothing is sent to that address any more, and only an administrator can have it confirmed again."
)
_LIST_TOLD = timedelta(days=1)  # of the bounces, and of the complaints, of one list, not oftener


@dataclass(frozen=True, slots=True)
class Proof:
    """What of a mail of ours came back with it."""

    delivery: str = ""  # its identifier, from the Message-ID
    subscription: str = ""  # with the signature of its link for unsubscribing
    signature: str = ""


@dataclass(frozen=True, slots=True)
class Bounce:
    """That a mail could not be delivered."""

    proofs: tuple[Proof, ...]
    addresses: tuple[str, ...]  # to which it could not be
    said: str  # in a sentence
    hard: bool  # nothing will ever be delivered there


@dataclass(frozen=True, slots=True)
class Complaint:
    """That a reader marked a mail as spam."""

    proofs: tuple[Proof, ...]
    addresses: tuple[str, ...] = ()  # to which it was sent, where that is told


@dataclass(frozen=True, slots=True)
class UnsubscribeMail:
    """That a reader wishes to hear no more."""

    proofs: tuple[Proof, ...]


Returned = Bounce | Complaint | UnsubscribeMail


async def follow_up(context: HandlerContext, returned: Returned, now: datetime) -> str:
    """Do what follows, and return it in a few words for the log; "" where nothing does. Raises StoreError."""
    match returned:
        case Bounce():
            return await _bounced(context, returned, now)
        case Complaint():
            return await _complained(context, returned, now)
        case UnsubscribeMail():
            return await _unsubscribed(context, returned, now)


async def _bounced(context: HandlerContext, bounce: Bounce, now: datetime) -> str:
    reader = await _reader(context, bounce.proofs)
    if reader is None:
        return await _letter_bounced(context, bounce, now) if bounce.hard else ""
    if folded_address(reader.address) not in {folded_address(each) for each in bounce.addresses}:
        return ""
    if reader.is_list:
        return await _list_bounced(context, reader, bounce, now)
    recipients = context.store.recipients
    after = await recipients.bounced(reader.channel, bounce.said, now, hard=bounce.hard)
    if after is None or not after.stopped or reader.stopped:
        return f"a bounce of {reader.channel} counts"
    if bounce.hard:
        await recipients.suppress(reader.address, Suppression.BOUNCED, now, workspace=reader.workspace)
    # The service pauses what is subscribed there, and tells its owners, in its next round.
    await context.store.outbox.add_refusal(Refusal(reader.workspace, reader.channel, Reach.CHANNEL, after.stopped, at=now))
    return f"a bounce stops {reader.channel}"


async def _list_bounced(context: HandlerContext, reader: Recipient, bounce: Bounce, now: datetime) -> str:
    """Count a bounce of a list, and tell who subscribed it: whoever reads a list could write one that is believed."""
    after = await context.store.recipients.bounced(reader.channel, bounce.said, now, hard=False)
    held = await context.store.workspaces.subscriptions(reader.workspace, channel=reader.channel)
    said = (
        f"{bounce.said} It is the {ordinal(after.soft_bounces if after else 1)} lately. Nothing is paused, as any of its"
        " readers could write such a mail; if the list is gone, *unsubscribe* ends what is sent there."
    )
    await _tell_of_list(context, reader, held, said, f"bounce of {reader.channel}", now)
    return f"a bounce of the list {reader.channel} counts"


async def _letter_bounced(context: HandlerContext, bounce: Bounce, now: datetime) -> str:
    key = await context.store.recipients.key()
    unreached = {address_hash(key, each) for each in bounce.addresses}
    mailed = [each for each in await _letters(context, bounce.proofs) if each in unreached]
    return await _refuse_letters(context, mailed, Suppression.BOUNCED, now)


async def _letters(context: HandlerContext, proofs: Sequence[Proof]) -> Sequence[str]:
    """Return the hashes of the addresses to which letters went whose tokens these are."""
    signer = LinkSigner(await context.store.recipients.key())
    return [hashed for each in proofs if (hashed := letter_hash(each.subscription)) and _is_signed(signer, each)]


async def _refuse_letters(context: HandlerContext, hashes: Sequence[str], reason: Suppression, now: datetime) -> str:
    """Let no more codes be sent to the first of the addresses: a letter went to one alone."""
    for hashed in hashes[:1]:
        await context.store.recipients.refuse_letters(hashed, reason, now)
    return "an address is sent no more codes" if hashes else ""


async def _complained(context: HandlerContext, complaint: Complaint, now: datetime) -> str:
    """End what the address is sent, and have it paused elsewhere; of a list, only tell who sends to it."""
    reader = await _reader(context, complaint.proofs)
    if reader is None:
        return await _refuse_letters(context, await _letters(context, complaint.proofs), Suppression.COMPLAINED, now)
    held = await context.store.workspaces.subscriptions(reader.workspace, channel=reader.channel)
    if reader.is_list:
        return await _list_complained(context, reader, held, now)
    if not await _is_of(context, complaint, reader, held):
        return ""
    recipients = context.store.recipients
    await recipients.bounced(reader.channel, COMPLAINED, now, hard=True)
    for workspace in ("", reader.workspace):
        await recipients.suppress(reader.address, Suppression.COMPLAINED, now, workspace=workspace)
    service = Actor(platform=EMAIL, workspace=reader.workspace, channel=reader.channel, person=SERVICE, may_administer=True)
    for each in held:
        await context.store.workspaces.delete_subscription(each, change_of(service, each, each, None, now))
    await _tell(context, reader, held, "What you subscribed by e-mail has ended: {}. " + _COMPLAINED_TOLD, now)
    for other in await recipients.everywhere(reader.address):
        if other.workspace != reader.workspace:
            await _complained_elsewhere(context, other, now)
    return f"a complaint ends {reader.channel}"


async def _complained_elsewhere(context: HandlerContext, other: Recipient, now: datetime) -> None:
    """Have paused what another workspace sends to the address of a complaint; of a list, only tell who sends to it."""
    if not other.is_list:  # the service pauses, and tells the owners, in its next round
        refusal = Refusal(other.workspace, other.channel, Reach.CHANNEL, _COMPLAINED_TOLD, at=now)
        return await context.store.outbox.add_refusal(refusal)
    held = await context.store.workspaces.subscriptions(other.workspace, channel=other.channel)
    await _list_complained(context, other, held, now)
    return None


async def _is_of(context: HandlerContext, complaint: Complaint, reader: Recipient, held: Sequence[Subscription]) -> bool:
    """Say whether a complaint names the recipient's address, or has the token of a subscription there.

    The identifier of a mail alone proves little: it goes out with each answer to the mail.
    """
    if folded_address(reader.address) in {folded_address(each) for each in complaint.addresses}:
        return True
    signer, numbers = LinkSigner(await context.store.recipients.key()), {each.id for each in held}
    return any(each.subscription in numbers and _is_signed(signer, each) for each in complaint.proofs)


async def _list_complained(context: HandlerContext, reader: Recipient, held: Sequence[Subscription], now: datetime) -> str:
    """Tell who subscribed a list: one of its readers does not end it for the others."""
    said = "One of its readers marked a mail as spam. Nothing has ended: whether the list goes on is for you to say."
    await _tell_of_list(context, reader, held, said, f"complaint of {reader.channel}", now)
    return f"a reader of the list {reader.channel} complains"


async def _tell_of_list(
    context: HandlerContext, reader: Recipient, held: Sequence[Subscription], said: str, told: str, now: datetime
) -> None:
    """Tell who subscribed a list, once in a while; `told` is the fact that keeps when."""
    before = await time_of_fact(context.store.facts, told)
    if before is not None and before <= now < before + _LIST_TOLD:
        return
    await _tell(context, reader, held, "You subscribed a mailing list by e-mail: {}. " + said, now)
    await context.store.facts.set(told, now.isoformat())


async def _tell(context: HandlerContext, reader: Recipient, held: Sequence[Subscription], said: str, now: datetime) -> None:
    """Tell each owner of subscriptions there a sentence with their topics."""
    topics = await context.topics(reader.workspace)
    owners = dict.fromkeys(each.made_by for each in held if each.made_by)
    theirs = {owner: [title_of(topics, each.topic) for each in held if each.made_by == owner] for owner in owners}
    notices = [Notice(reader.workspace, owner, said.format(listed(names)), now) for owner, names in theirs.items()]
    await context.store.outbox.add_notices(notices)


async def _unsubscribed(context: HandlerContext, wish: UnsubscribeMail, now: datetime) -> str:
    signer = LinkSigner(await context.store.recipients.key())
    for each in wish.proofs:
        if not _is_signed(signer, each):
            continue
        if hashed := letter_hash(each.subscription):
            return await _refuse_letters(context, [hashed], Suppression.COMPLAINED, now)
        if (found := await linked(context, SignedLink(LinkAction.UNSUBSCRIBE, each.subscription))) is None:
            return "a mail unsubscribes what has ended already"
        given = pressed(found)
        ended = Unsubscribe(found.subscription.topic, found.subscription.rhythm)
        await unsubscribe(context, ended, given.actor, now)
        await note_pressed(context, given, now)
        return f"a mail unsubscribes {found.recipient.channel}"
    return ""


async def _reader(context: HandlerContext, proofs: Sequence[Proof]) -> Recipient | None:
    """Return to whom the mail was sent that came back, None where nothing proves it."""
    recipients = context.store.recipients
    for each in proofs:
        if each.delivery and (reader := await recipients.reader_of(each.delivery)) is not None:
            return reader
    signer = LinkSigner(await recipients.key())
    for each in proofs:
        if not each.subscription or not _is_signed(signer, each):
            continue
        if (subscription := await recipients.subscription(each.subscription)) is not None:
            return await recipients.named(subscription.channel)
    return None


def _is_signed(signer: LinkSigner, proof: Proof) -> bool:
    return signer.holds(SignedLink(LinkAction.UNSUBSCRIBE, proof.subscription), proof.signature)
