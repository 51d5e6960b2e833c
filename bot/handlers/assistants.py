"""Tokens by which assistants ask: given and ended by whoever runs the service, and what each opens.

A token is 192 random bits; what is kept of it is its SHA-256, which tells nobody the token.
"""

import logging
import re
import secrets
from collections.abc import Sequence
from datetime import datetime

from bot.errors import StoreError, UsageError
from bot.handlers.feeds.addresses import token_kept
from bot.handlers.wording.replies import excerpt
from bot.models import AssistantAccess, AssistantToken, is_mail
from bot.ports.store import Store

log = logging.getLogger(__name__)

_BEGINS = "bsm_"  # so that one is known wherever it stands; bot.redact hides it
_RANDOM = 24  # bytes
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_WORKSPACE = re.compile(r"[a-z]+:[\w-]{1,64}")
_IDENTIFIER = re.compile(r"[\w.@-]{1,64}")
_NAMED = 5  # workspaces, at most


async def give_token(store: Store, name: str, access: AssistantAccess, now: datetime) -> str:
    """Return a new token for whom the access names; it is told nowhere again.

    Raises UsageError for a name that is held or is none, for a workspace in which nothing is subscribed or was posted, and
    where something would be written for nobody. Raises StoreError.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f'"{excerpt(name)}" is no name of a token.', hint="Up to 40 letters, figures, dots and dashes: desk, ci.2."
        )
    _require_identifiers(access)
    await _require_known(store, access.workspace)
    text = _BEGINS + secrets.token_hex(_RANDOM)
    token = AssistantToken(name=name, hashed=token_kept(text), access=access, made_at=now)
    if not await store.assistants.allow(token):
        raise UsageError(f"There is a token named {name}.", hint="Choose another name, or revoke that one first.")
    return text


async def token_of(store: Store, text: str, now: datetime) -> AssistantToken | None:
    """Return what a token opens, and note that it was used today; None for one that was never given, or was revoked.

    Where nothing can be written just now, that is not noted. Raises StoreError where nothing can be read.
    """
    if not text.startswith(_BEGINS):
        return None
    token = await store.assistants.by_hash(token_kept(text))
    if token is not None and (token.used_on is None or token.used_on < now.date()):
        try:
            await store.assistants.note_use(token.hashed, now.date())
        except StoreError as error:
            log.info("it is not noted that the token %s was used: %s", token.name, error)
    return token


async def idle_channel(store: Store, access: AssistantAccess) -> bool:
    """Say whether a channel is named in which nothing is subscribed or was posted. Raises StoreError."""
    workspace, channel = access.workspace, access.channel
    if not channel or await store.workspaces.subscriptions(workspace, channel=channel):
        return False
    return channel not in await store.archive.channels(workspace)


def _require_identifiers(access: AssistantAccess) -> None:
    if is_mail(access.channel):
        raise UsageError("What is sent to an address is read by nobody else.", hint="Name a channel of a chat, or none.")
    for each in (access.channel, access.person) if ":" in access.workspace else ():
        if each and not _IDENTIFIER.fullmatch(each):
            raise UsageError(f'"{excerpt(each)}" is no identifier.', hint="Channels and people are named as C0123 or 4567.")
    if access.may_write and not (access.person and access.channel):
        raise UsageError(
            "Whoever writes does so for a person and in a channel.", hint="Name both: --channel C0123 --person U0123 --write"
        )


async def _require_known(store: Store, workspace: str) -> None:
    if workspace == "local":
        return
    known = await _known(store)
    if _WORKSPACE.fullmatch(workspace) and (workspace in known or await store.archive.channels(workspace)):
        return
    there = f"There is {', '.join(known[:_NAMED])}." if known else "Nothing is subscribed anywhere but in the terminal."
    raise UsageError(f"Nothing is subscribed in {excerpt(workspace)}, and nothing was posted there.", hint=there)


async def _known(store: Store) -> Sequence[str]:
    """Return the workspaces of platforms in which something is subscribed, in order."""
    every = {each.workspace for each in await store.ledger.every_subscription()}
    return sorted(each for each in every if ":" in each)
