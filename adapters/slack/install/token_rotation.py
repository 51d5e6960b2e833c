"""Tokens that end, renewed before they do: https://docs.slack.dev/authentication/using-token-rotation."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from slack_sdk.oauth.installation_store import Installation
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.client.errors import FAILURES, REVOKED, failure_reason
from adapters.slack.install.installations import Installations, place_of
from adapters.slack.install.manifest import INSTALL_PATH
from bot.errors import Delayed, Reach, Refused, StoreError
from bot.service.platforms import Cluster
from bot.settings.chat import SlackSettings

EARLY = timedelta(hours=2)  # before its end that a token is renewed; Slack's last for twelve hours
REST = timedelta(minutes=1)  # after a renewal that failed; nobody waits for another one meanwhile
ELSEWHERE = timedelta(seconds=5)  # until it is looked whether another process has renewed it
RENEWING = timedelta(
    minutes=2
)  # longer than a renewal takes: for so long a process that ends in the middle keeps others away
_SPENT = REVOKED | {"invalid_refresh_token", "invalid_grant"}

log = logging.getLogger(__name__)


class TokenRotation:
    """Renews the tokens of installations, each by one at a time: a refresh token is good once."""

    def __init__(
        self,
        settings: SlackSettings,
        new_client: Callable[[], AsyncWebClient],
        clock: Callable[[], datetime],
        installations: Installations | None,
        cluster: Cluster | None = None,
    ) -> None:
        """`new_client` makes one without a token; with a cluster other processes renew them too."""
        self._cluster = cluster
        self._settings, self._new_client, self._clock, self._installations = settings, new_client, clock, installations
        self._locks: dict[str, asyncio.Lock] = {}
        self._rests: dict[str, datetime] = {}  # until when

    async def current(self, found: Installation) -> Installation:
        """Return the installation with a token that does not end soon; renewed and kept where it would have.

        One that could not be renewed is good until its end. Raises Refused and Delayed after it.
        """
        place = place_of(found)
        if self._installations is None or (self._is_good(found) and not self._installations.is_unwritten(place)):
            return found
        async with self._locks.setdefault(place, asyncio.Lock()):
            # Somebody else may have renewed it meanwhile, and spent its refresh token.
            latest = self._installations.find(place, place) or found
            if self._is_good(latest) and not self._installations.is_unwritten(place):
                return latest
            try:
                return await self._renewed(latest, self._installations)
            except StoreError as error:
                return self._until_its_end(latest, str(error), REST)

    async def _renewed(self, found: Installation, installations: Installations) -> Installation:
        """Return it as another process renewed it, or renew it: one process at a time. Raises StoreError."""
        if self._cluster is None:
            return await self._renewed_here(found, installations)
        leases, process = self._cluster.leases, self._cluster.process
        lease = await leases.take(f"slack token {place_of(found)}", process, RENEWING)
        if lease is None:
            return self._until_its_end(found, "another process is at it", ELSEWHERE)
        try:
            return await self._renewed_here(found, installations)
        finally:
            await leases.give_back(lease)

    async def _renewed_here(self, found: Installation, installations: Installations) -> Installation:
        place = place_of(found)
        await installations.read_again(place)
        latest = installations.find(place, place)
        if latest is None:
            raise self._removed()
        return latest if self._is_good(latest) else await self._renew(latest, installations)

    def _is_good(self, found: Installation) -> bool:
        if found.bot_token_expires_at is None or not found.bot_refresh_token or self._lasts(found, EARLY):
            return True
        rests_until = self._rests.get(place_of(found))
        return rests_until is not None and self._clock() < rests_until and self._lasts(found, timedelta(0))

    def _lasts(self, found: Installation, span: timedelta) -> bool:
        return datetime.fromtimestamp(found.bot_token_expires_at or 0, UTC) > self._clock() + span

    async def _renew(self, found: Installation, installations: Installations) -> Installation:
        try:
            answer = await self.exchange(grant_type="refresh_token", refresh_token=str(found.bot_refresh_token))
        except FAILURES as error:
            return self._not_renewed(found, error)
        renewed = Installation(**found.to_dict_for_copying())
        renewed.bot_token = answer["access_token"]
        renewed.bot_refresh_token = answer.get("refresh_token") or found.bot_refresh_token
        ends = self._clock() + timedelta(seconds=int(answer["expires_in"]))
        renewed.bot_token_expires_at = int(ends.timestamp())
        place = place_of(found)
        with contextlib.suppress(StoreError):  # then what is in memory counts
            await installations.read_again(place)
        if (kept := installations.find(place, place)) is not None and kept.bot_refresh_token != found.bot_refresh_token:
            return kept  # installed again meanwhile: that token is the newer one
        if kept is None:
            raise self._removed()
        try:
            await installations.save(renewed)
        except StoreError as error:
            log.error("the new token of %s is in memory alone: %s", place, error)  # noqa: TRY400 - foreseen
        return renewed

    def _removed(self) -> Refused:
        where = where_to_install(self._settings)
        return Refused(f"Broadsheet was removed from this Slack workspace; install it again {where}.", reach=Reach.WORKSPACE)

    def _not_renewed(self, found: Installation, error: Exception) -> Installation:
        why = failure_reason(error)
        if why in _SPENT and not self._lasts(found, timedelta(0)):
            where = where_to_install(self._settings)
            raise Refused(
                f"Slack no longer renews Broadsheet's token for this workspace; install it again {where}.",
                reach=Reach.WORKSPACE,
            ) from error
        return self._until_its_end(found, why, REST)

    def _until_its_end(self, found: Installation, why: str, rest: timedelta) -> Installation:
        """Return it while its token lasts, and try to renew it again after the rest; raises Delayed after its end."""
        place = place_of(found)
        log.log(
            logging.INFO if rest == ELSEWHERE else logging.WARNING, "the token of %s could not be renewed: %s", place, why
        )
        self._rests[place] = self._clock() + rest
        if self._lasts(found, timedelta(0)):
            return found
        raise Delayed(f"Broadsheet's token could not be renewed: {why}.", reach=Reach.WORKSPACE, retry_after=rest)

    async def exchange(self, **given: str) -> Any:
        """Call oauth.v2.access: a token for a code, or for a refresh token; raises one of FAILURES.

        Not by slack_sdk's method of that name, which uses a part of aiohttp that is going away.
        """
        secret = self._settings.client_secret.get_secret_value()
        asked = {"client_id": self._settings.client_id, "client_secret": secret, **given}
        return await self._new_client().api_call("oauth.v2.access", data=asked)


def where_to_install(settings: SlackSettings) -> str:
    """Return where the app is installed, as the end of a sentence."""
    address = settings.public_url.rstrip("/")
    return f"at {address}{INSTALL_PATH}" if address and settings.client_id else "as docs/slack.md says"
