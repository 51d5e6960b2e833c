"""The web command: a link to the pages, for who asks alone."""

from datetime import datetime, timedelta

from bot.commands import Web
from bot.errors import UsageError
from bot.handlers.archive.access import public_url
from bot.handlers.archive.sessions import opening_link, signer_of
from bot.handlers.context import HandlerContext, handles
from bot.handlers.links import OPENING_HOLDS, SESSION_HOLDS
from bot.models import Actor, Reply
from bot.wording import counted


@handles(Web)
async def web(context: HandlerContext, _command: Web, actor: Actor, now: datetime) -> Reply:
    """Return a link to the pages, for who asks alone. Raises UsageError where there are no pages."""
    if not context.web_url:
        raise UsageError(
            "Nothing can be read in a browser here yet.",
            hint="Whoever runs Broadsheet gives its pages an address, by the setting web.url.",
        )
    within, stays = OPENING_HOLDS // timedelta(minutes=1), SESSION_HOLDS // timedelta(hours=1)
    told = f"It opens once, within {counted(within, 'minute')}, and stays open for {counted(stays, 'hour')}."
    own = (await opening_link(context, actor, now), f"{told} Whoever opens it reads as you: pass it on to nobody.")
    return Reply(title="Your archive in a browser", text=(*own, *await _for_everybody(context, actor)))


async def _for_everybody(context: HandlerContext, actor: Actor) -> tuple[str, ...]:
    """Return where strangers read what was made public, where anything was."""
    if not (await context.store.workspaces.preferences(actor.workspace)).public:
        return ()
    return ("What everybody may read has an address to pass on:", public_url(await signer_of(context), actor.workspace))
