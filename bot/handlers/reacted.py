"""What a reaction to a digest's entry says: more or less of it, set and taken back; never toggled."""

from collections.abc import Sequence
from datetime import datetime

from bot.handlers.context import HandlerContext
from bot.handlers.lookup import topics_of
from bot.handlers.taste import change_of, own
from bot.models import Actor, Feedback, Item, Kind


async def reacted(
    context: HandlerContext, actor: Actor, keys: Sequence[str], topic: str, *, more: bool, given: bool, now: datetime
) -> None:
    """Note that the actor reacted to the entry of these items, or took that reaction back; harmless when it is told twice.

    The last word counts, as with the commands: what is taken back is only what still stands. Nothing is noted for a topic
    that is not there any more. Raises StoreError.
    """
    if topic not in await topics_of(context, actor.workspace):
        return
    known = await context.store.find(keys)
    given_before = await context.store.feedback(actor.workspace, topic)
    for key in dict.fromkeys(keys):
        item = known.get(key) or Item(key=key, kind=Kind.POST, title="")  # the key is what counts
        before = own(given_before, actor, item)
        if given and (before is None or before.more is not more):
            key = before.key if before else item.key  # said under an older key of the same work, it is replaced there
            said = _feedback(actor, topic, key, more=more, now=now)
            await context.store.save_feedback(said, change_of(actor, before, said, now))
        elif not given and before is not None and before.more is more:
            await context.store.drop_feedback([before], change_of(actor, before, None, now))


def _feedback(actor: Actor, topic: str, key: str, *, more: bool, now: datetime) -> Feedback:
    return Feedback(
        workspace=actor.workspace, topic=topic, person=actor.person, key=key, more=more, at=now, channel=actor.channel
    )
