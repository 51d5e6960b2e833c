"""A service in a Slack in which three organisations share a channel; who of them installed the app is a test's to say."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from slack_sdk.oauth.installation_store import Installation

from tests.e2e.slack_desk import SlackDesk, sitting
from tests.e2e.slack_rooms import KEY, PUBLIC
from tests.fakes import slack
from tests.fakes.slack.state import Channel, Grant, Person, Team

HOST, GUEST = "T0BROAD", "T0GUEST"
_HOMES = {"E0BROAD": HOST, "E0GUEST": GUEST}


class Installed(StrEnum):
    """Where the app is installed."""

    BOTH = "in both"
    HOST = "in the host's workspace alone"
    GUEST = "in the guest's workspace alone"
    ORGANISATION = "in the host's whole organisation"
    ORGANISATIONS = "in the whole organisations of both"
    ORGANISATION_AND_GUEST = "in the host's whole organisation, and in the guest's workspace"

    @property
    def teams(self) -> tuple[str, ...]:
        """The workspaces in which it acts."""
        host = () if self is Installed.GUEST else (HOST,)
        return host if self in (Installed.HOST, Installed.ORGANISATION) else (*host, GUEST)

    @property
    def is_org_wide(self) -> bool:
        return self in (Installed.ORGANISATION, Installed.ORGANISATION_AND_GUEST, Installed.ORGANISATIONS)


@dataclass(slots=True)
class SharedDesk:
    """The service, and the three organisations: the host's ben and anna, the guest's carl and dora, and egon."""

    desk: SlackDesk
    folder: Path
    channel: Channel
    guest: Team
    carl: Person
    dora: Person
    egon: Person

    @property
    def fake(self) -> slack.FakeSlack:
        return self.desk.fake

    def member(self, team: str) -> Person:
        """Somebody of a workspace."""
        return self.fake.ben if team == HOST else self.carl

    async def workspaces(self) -> set[str]:
        """Return the workspaces of all rows in the database."""
        return await asyncio.to_thread(workspaces, self.folder / "b.sqlite3")

    def asked_as(self) -> set[str]:
        """Return the workspaces whose tokens were used, but for the socket's."""
        grants = [self.fake.world.grants[each.token] for each in self.fake.requests if each.token in self.fake.world.grants]
        return {_HOMES.get(each.enterprise) or each.teams[0] for each in grants if each.kind == "bot"}


@asynccontextmanager
async def sharing(folder: Path, installed: Installed, **given: Any) -> AsyncIterator[SharedDesk]:
    """Run it; `given` are settings of [slack]."""
    oauth: dict[str, Any] = {
        "client_id": "1111.2222",
        "client_secret": "c" * 32,
        "encryption_keys": KEY,
        "public_url": PUBLIC,
        "port": 0,
    }
    async with sitting(folder, bot_token="", **oauth, **given) as desk:
        fake = desk.fake
        allowed = fake.world.grants.pop(fake.bot_token).scopes
        guest, third = fake.add_team(GUEST), fake.add_team("T0THIRD")
        carl = fake.add_person("U0CARL", "carl", team=guest)
        dora = fake.add_person("U0DORA", "dora", team=guest, is_admin=True, is_owner=True)
        egon = fake.add_person("U0EGON", "egon", team=third, is_admin=True)
        channel = fake.add_channel("C0SHARED", "shared", joined=HOST in installed.teams)
        fake.share_channel(channel, guest, joined=GUEST in installed.teams)
        fake.share_channel(channel, third, joined=False)
        if installed.is_org_wide:
            fake.team.enterprise, fake.team.is_org_wide = "E0BROAD", True
        if installed is Installed.ORGANISATIONS:
            guest.enterprise, guest.is_org_wide = "E0GUEST", True
        for team in installed.teams:
            await install(desk, fake.world.teams[team], allowed)
        yield SharedDesk(desk, folder, channel, guest, carl, dora, egon)


async def install(desk: SlackDesk, team: Team, allowed: Collection[str]) -> str:
    """Install the app in a workspace, or its organisation, and return its token there."""
    organisation = team.enterprise if team.is_org_wide else ""
    token = f"xoxb-{organisation or team.id}-{len(desk.fake.world.grants)}"
    teams = () if organisation else (team.id,)
    desk.fake.world.grants[token] = Grant(
        token=token, kind="bot", teams=teams, enterprise=organisation, scopes=frozenset(allowed)
    )
    kept = Installation(
        team_id=None if organisation else team.id,
        enterprise_id=team.enterprise or None,
        bot_token=token,
        bot_user_id=team.app_user.id,
        user_id="U0SOMEONE",
        is_enterprise_install=bool(organisation),
        installed_at=desk.now.timestamp(),
    )
    installations = desk.platform.clients.installations
    assert installations is not None
    await installations.save(kept)
    return token


def workspaces(path: Path) -> set[str]:
    """Return the workspaces of all rows in a database."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        tables = [str(name) for (name,) in db.execute("select name from sqlite_master where type = 'table'")]
        found: set[str] = set()
        for table in tables:
            if "workspace" in {row[1] for row in db.execute(f'pragma table_info("{table}")')}:
                found |= {str(row[0]) for row in db.execute(f'select distinct workspace from "{table}"')}
        return found
