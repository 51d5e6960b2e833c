"""Who installed the app, and the tokens that came of it: encrypted in the database, readable in memory.

An installation belongs to a place: a workspace (T0123), or a whole organisation (E0123) whose token acts in each of its
workspaces. A workspace for which an organisation's token acts is kept too, as a pointer: a digest knows its workspace alone.
"""

import asyncio
import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from slack_sdk.oauth.installation_store import Installation

from adapters.slack.install.encryption import TokenCipher
from adapters.slack.workspaces import PLATFORM
from bot.models import Installation as Kept
from bot.ports.chats import Chats

# And no user's token: none is asked for, and one that came is not kept.
_OURS = (
    *("app_id", "enterprise_id", "enterprise_name", "enterprise_url", "team_id", "team_name", "bot_token", "bot_id"),
    *("bot_user_id", "bot_scopes", "bot_refresh_token", "bot_token_expires_at", "user_id", "is_enterprise_install"),
    *("token_type", "installed_at"),
)

log = logging.getLogger(__name__)


class Installations:
    """The installations and their tokens, as they were read last: another process may have written since (`read_again`)."""

    def __init__(self, chats: Chats, cipher: TokenCipher, clock: Callable[[], datetime]) -> None:
        self._chats, self._cipher, self._clock = chats, cipher, clock
        self._by_place: dict[str, Installation] = {}
        self._org_of: dict[str, str] = {}  # pointers: workspace → organisation
        self._unreadable: set[str] = set()
        self._unwritten: dict[str, tuple[dict[str, Any], str]] = {}  # what could not be kept, with who made it

    async def load(self, *, reencrypt: bool = True) -> None:
        """Read all of them; the service alone may encrypt anew those of an older key. Raises StoreError."""
        kept = await self._chats.installations(PLATFORM)
        # Opening a thousand of them takes longer than the event loop may be kept.
        opened = await asyncio.to_thread(lambda: [(each, self._opened(each)) for each in kept])
        self._unreadable = {each.place for each, content in opened if content is None}
        if self._unreadable:
            log.error("%s", self.trouble())
        for each, content in opened:
            if content is None:
                continue
            self._remember(each.place, content)
            if reencrypt and not self._cipher.is_newest(each.sealed):
                await self._write(each.place, content, each.made_by)
                log.info("the tokens of %s are sealed with the newest key now", each.place)

    async def read_again(self, *places: str) -> None:
        """Read anew what is kept of these places, and of the organisations that act there. Raises StoreError."""
        for place in filter(None, places):
            if place in self._unwritten:  # newer than what is kept
                await self._write(place, *self._unwritten[place])
                continue
            kept = next(iter(await self._chats.installations(PLATFORM, place=place)), None)
            content = self._opened(kept) if kept is not None else None
            if content is not None:
                self._remember(place, content)
                org = str(content.get("org") or "")
                await self.read_again(*({org} - {place} - self._by_place.keys()))
            elif kept is None:
                self._forget(place)
            else:
                self._unreadable.add(place)

    def is_unwritten(self, place: str) -> bool:
        """Say whether what is in memory could not be kept."""
        return place in self._unwritten

    def place_of_token(self, token: str) -> str:
        """Return the place of the installation with this token, "" where there is none."""
        return next((place for place, each in self._by_place.items() if each.bot_token == token), "")

    def trouble(self) -> str:
        """Return which installations cannot be used and what to do, "" where all can."""
        if not self._unreadable:
            return ""
        some = ", ".join(sorted(self._unreadable)[:5]) + (" and others" if len(self._unreadable) > 5 else "")
        return (
            f"None of `encryption_keys` in [slack] opens the tokens of {some}: put the key that was used before behind the"
            " new one, or install the app there again."
        )

    def is_unreadable(self, team: str) -> bool:
        """Say whether there is an installation that no key opens."""
        return team in self._unreadable

    def find(self, team: str, enterprise: str = "", *, org_wide: bool = False) -> Installation | None:
        """Return whose token acts in the workspace: its own installation's, else its organisation's.

        `org_wide` says that Slack named the organisation's: then that one comes first.
        """
        org = enterprise or self._org_of.get(team, "")
        places = (org, team) if org_wide else (team, org)
        return next((self._by_place[place] for place in places if place in self._by_place), None)

    def all(self) -> list[Installation]:
        """Return every installation."""
        return list(self._by_place.values())

    def teams_of_bot(self, user: str) -> list[str]:
        """Return the workspaces in which this is the app's own user."""
        places = {place for place, each in self._by_place.items() if user and each.bot_user_id == user}
        whole = {place for place in places if self._by_place[place].is_enterprise_install}
        return sorted((places - whole) | {team for team, org in self._org_of.items() if org in whole})

    async def link_workspace(self, team: str, enterprise: str) -> None:
        """Note that the organisation's token acts in this workspace, where that is news."""
        if team and enterprise in self._by_place and self._org_of.get(team) != enterprise:
            self._by_place.pop(team, None)
            self._org_of[team] = enterprise
            await self._write(team, {"org": enterprise}, "")

    async def drop(self, place: str) -> list[str]:
        """Forget the installation and its pointers; return the workspaces in which nobody acts any more."""
        teams = [team for team, org in self._org_of.items() if org == place]
        if place in self._by_place and not self._by_place[place].is_enterprise_install:
            teams.append(place)
        for each in {place, *teams}:
            self._forget(each)
            await self._chats.drop_installation(PLATFORM, each)
        return teams

    async def unlink_workspace(self, team: str) -> None:
        """Forget that an organisation's token acts in this workspace."""
        if self._org_of.pop(team, None):
            await self._chats.drop_installation(PLATFORM, team)

    async def save(self, installation: Installation) -> None:
        """Keep it instead of what was kept of its place."""
        place = place_of(installation)
        content = {name: _plain(value) for name, value in installation.to_dict().items() if name in _OURS}
        # In memory first: where it cannot be written, a token that Slack has just renewed is not lost at once.
        self._remember(place, content)
        self._unwritten[place] = content, installation.user_id or ""
        await self._write(place, *self._unwritten[place])

    def _opened(self, kept: Kept) -> dict[str, Any] | None:
        try:
            content = json.loads(self._cipher.decrypt(kept.sealed) or "{}")
        except ValueError:
            return None
        # The place is encrypted with it, so that no row can pass for another's.
        if not isinstance(content, dict) or content.get("place") != kept.place:
            return None
        if content.get("org"):
            return {"org": content["org"]}
        known = {name: value for name, value in content.items() if name in _OURS}
        return known if known.get("bot_token") and "user_id" in known else None

    def _remember(self, place: str, content: dict[str, Any]) -> None:
        self._unreadable.discard(place)
        if org := content.get("org"):
            self._org_of[place] = str(org)
        else:
            self._org_of.pop(place, None)
            self._by_place[place] = Installation(**content)

    def _forget(self, place: str) -> None:
        self._by_place.pop(place, None)
        self._org_of.pop(place, None)
        self._unwritten.pop(place, None)
        self._unreadable.discard(place)

    async def _write(self, place: str, content: dict[str, Any], made_by: str) -> None:
        sealed = self._cipher.encrypt(json.dumps({**content, "place": place}))
        kept = Kept(platform=PLATFORM, place=place, sealed=sealed, made_by=made_by, at=self._clock())
        await self._chats.save_installation(kept)
        self._unwritten.pop(place, None)


def place_of(installation: Installation) -> str:
    """Return the place that it belongs to: the organisation's identifier where it is for all of its workspaces."""
    place = installation.enterprise_id if installation.is_enterprise_install else installation.team_id
    return place or installation.team_id or installation.enterprise_id or ""


def _plain(value: object) -> object:
    return value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
