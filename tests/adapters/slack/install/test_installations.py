"""Whose token acts where, and what the database knows of it."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from cryptography.fernet import Fernet, InvalidToken
from slack_sdk.oauth.installation_store import Installation

from adapters.slack.install.encryption import TokenCipher
from adapters.slack.install.installations import Installations
from adapters.slack.workspaces import PLATFORM
from bot.errors import StoreError
from bot.models import Installation as Kept
from bot.store.sqlite.store import SqliteStore
from tests.stores.memory import MemoryStore

OLD, NEW = Fernet.generate_key().decode(), Fernet.generate_key().decode()


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def installations(store: MemoryStore, now: datetime) -> Installations:
    return Installations(store.chats, TokenCipher(OLD), lambda: now)


def workspace(team: str, token: str, *, enterprise: str | None = None, user: str = "U1") -> Installation:
    return Installation(team_id=team, enterprise_id=enterprise, bot_token=token, user_id=user, bot_user_id="UBOT")


def organisation(enterprise: str, token: str) -> Installation:
    return Installation(enterprise_id=enterprise, bot_token=token, user_id="U1", is_enterprise_install=True)


async def again(store: MemoryStore, now: datetime, keys: str = OLD) -> Installations:
    """As after a restart."""
    installations = Installations(store.chats, TokenCipher(keys), lambda: now)
    await installations.load()
    return installations


def token(found: Installation | None) -> str | None:
    return found.bot_token if found else None


async def test_an_installation_is_there_after_a_restart_whole(
    installations: Installations, store: MemoryStore, now: datetime
) -> None:
    whole = workspace("T1", "xoxb-1")
    whole.bot_refresh_token, whole.bot_scopes, whole.bot_token_expires_at = "xoxe-1", ["chat:write"], int(now.timestamp())
    whole.user_token = "xoxp-of-a-person"
    await installations.save(whole)
    found = (await again(store, now)).find("T1")

    assert found is not None
    kept = {**whole.to_dict(), "user_token": None, "user_scopes": None}
    assert found.to_dict() == kept


async def test_the_database_holds_nothing_that_can_be_read(installations: Installations, store: MemoryStore) -> None:
    await installations.save(workspace("T1", "xoxb-1-secret"))
    [kept] = await store.chats.installations(PLATFORM)

    assert kept.place == "T1"
    assert b"xoxb" not in kept.sealed
    assert "xoxb" not in repr(kept)


@pytest.mark.parametrize("enterprise", [None, "E1"])
async def test_a_workspace_within_an_organisation_is_kept_as_a_workspace(
    installations: Installations, enterprise: str | None
) -> None:
    await installations.save(workspace("T1", "xoxb-1", enterprise=enterprise))

    assert token(installations.find("T1", enterprise or "")) == "xoxb-1"
    assert token(installations.find("T2", enterprise or "")) is None


async def test_whoever_installs_it_again_there_is_one_installation(installations: Installations, store: MemoryStore) -> None:
    await installations.save(workspace("T1", "xoxb-1", user="U1"))
    await installations.save(workspace("T1", "xoxb-2", user="U2"))

    assert token(installations.find("T1")) == "xoxb-2"
    assert [each.made_by for each in await store.chats.installations(PLATFORM)] == ["U2"]


async def test_an_organisations_token_acts_in_its_workspaces_also_after_a_restart(
    installations: Installations, store: MemoryStore, now: datetime
) -> None:
    await installations.save(organisation("E1", "xoxb-org"))
    await installations.link_workspace("T1", "E1")
    restarted = await again(store, now)

    assert token(restarted.find("T1")) == "xoxb-org"
    assert token(restarted.find("T2")) is None
    assert token(restarted.find("T2", "E1")) == "xoxb-org"


async def test_a_workspaces_own_token_comes_first_until_slack_speaks_of_the_organisations(
    installations: Installations,
) -> None:
    await installations.save(workspace("T1", "xoxb-own", enterprise="E1"))
    await installations.save(organisation("E1", "xoxb-org"))

    assert token(installations.find("T1", "E1")) == "xoxb-own"
    assert token(installations.find("T1", "E1", org_wide=True)) == "xoxb-org"

    await installations.link_workspace("T1", "E1")
    assert token(installations.find("T1")) == "xoxb-org"


async def test_nobody_follows_an_organisation_that_did_not_install_it(
    installations: Installations, store: MemoryStore
) -> None:
    await installations.save(workspace("T1", "xoxb-own"))
    await installations.link_workspace("T1", "E2")

    assert token(installations.find("T1")) == "xoxb-own"
    assert len(await store.chats.installations(PLATFORM)) == 1


async def test_an_organisation_takes_its_workspaces_with_it(installations: Installations, store: MemoryStore) -> None:
    await installations.save(organisation("E1", "xoxb-org"))
    await installations.save(workspace("T9", "xoxb-other"))
    await installations.link_workspace("T1", "E1")
    await installations.link_workspace("T2", "E1")

    assert sorted(await installations.drop("E1")) == ["T1", "T2"]
    assert token(installations.find("T1", "E1")) is None
    assert [each.place for each in await store.chats.installations(PLATFORM)] == ["T9"]


async def test_a_token_that_cannot_be_written_is_used_all_the_same(tmp_path: Path, now: datetime) -> None:
    store = SqliteStore(tmp_path / "store.sqlite3")
    await store.open()
    installations = Installations(store.chats, TokenCipher(OLD), lambda: now)
    await store.close()
    with pytest.raises(StoreError):
        await installations.save(workspace("T1", "xoxb-renewed"))

    assert token(installations.find("T1")) == "xoxb-renewed"


async def test_what_is_dropped_is_gone_after_a_restart(
    installations: Installations, store: MemoryStore, now: datetime
) -> None:
    await installations.save(workspace("T1", "xoxb-1"))

    assert await installations.drop("T1") == ["T1"]
    assert token((await again(store, now)).find("T1")) is None


async def test_with_a_new_key_everything_is_sealed_anew_and_the_old_one_may_go(
    installations: Installations, store: MemoryStore, now: datetime
) -> None:
    await installations.save(workspace("T1", "xoxb-1"))
    await installations.save(organisation("E1", "xoxb-org"))
    await installations.link_workspace("T2", "E1")
    await again(store, now, f"{NEW} {OLD}")
    without = await again(store, now, NEW)

    assert without.trouble() == ""
    assert token(without.find("T1")) == "xoxb-1"
    assert token(without.find("T2")) == "xoxb-org"


async def test_who_only_looks_seals_nothing_anew(installations: Installations, store: MemoryStore, now: datetime) -> None:
    await installations.save(workspace("T1", "xoxb-1"))
    [before] = await store.chats.installations(PLATFORM)
    await Installations(store.chats, TokenCipher(f"{NEW} {OLD}"), lambda: now).load(reencrypt=False)

    assert await store.chats.installations(PLATFORM) == [before]


async def test_without_its_key_an_installation_is_neither_used_nor_lost(
    installations: Installations, store: MemoryStore, now: datetime
) -> None:
    await installations.save(workspace("T1", "xoxb-1"))
    locked = await again(store, now, NEW)

    assert token(locked.find("T1")) is None
    assert locked.is_unreadable("T1")
    assert "T1" in locked.trouble()
    assert token((await again(store, now)).find("T1")) == "xoxb-1"

    await locked.save(workspace("T1", "xoxb-2"))
    assert locked.trouble() == ""


async def test_a_row_cannot_pass_for_another_workspaces(
    installations: Installations, store: MemoryStore, now: datetime
) -> None:
    await installations.save(workspace("T1", "xoxb-1"))
    [kept] = await store.chats.installations(PLATFORM)
    await store.chats.save_installation(Kept(platform=PLATFORM, place="T2", sealed=kept.sealed, at=now))

    assert token((await again(store, now)).find("T2")) is None


async def test_a_new_token_takes_the_place_of_the_old_one_until_the_installation_is_dropped(
    installations: Installations, now: datetime
) -> None:
    await installations.save(workspace("T1", "xoxb-1"))
    renewed = workspace("T1", "xoxb-2")
    renewed.bot_token_expires_at = int((now + timedelta(hours=12)).timestamp())
    await installations.save(renewed)
    found = installations.find("T1")

    assert found is not None
    assert (found.bot_token, found.bot_token_expires_at) == ("xoxb-2", renewed.bot_token_expires_at)
    assert await installations.drop("T1") == ["T1"]
    assert token(installations.find("T1")) is None


async def test_an_installation_of_the_version_before_is_read_and_encrypted_anew(store: MemoryStore, now: datetime) -> None:
    content = json.dumps({"team_id": "T1", "bot_token": "xoxb-1", "user_id": "U1", "place": "T1"})
    row = Kept(platform=PLATFORM, place="T1", sealed=Fernet(OLD).encrypt(content.encode()), made_by="U1", at=now)
    await store.chats.save_installation(row)
    looked = Installations(store.chats, TokenCipher(OLD), lambda: now)
    await looked.load(reencrypt=False)  # as beside a service
    assert (token(looked.find("T1")), await store.chats.installations(PLATFORM)) == ("xoxb-1", [row])

    assert token((await again(store, now)).find("T1")) == "xoxb-1"
    [renewed] = await store.chats.installations(PLATFORM)
    assert (renewed.place, renewed.made_by, TokenCipher(OLD).is_newest(renewed.sealed)) == ("T1", "U1", True)
    with pytest.raises(InvalidToken):
        Fernet(OLD).decrypt(renewed.sealed)
    assert token((await again(store, now)).find("T1")) == "xoxb-1"


@pytest.mark.parametrize("content", ["word", "17", "[]", '{"place": "T2"}', '{"place"', '{"place": "T1"}'])
async def test_what_is_no_installation_is_not_read_as_one_and_stops_nothing(
    store: MemoryStore, now: datetime, content: str
) -> None:
    for sealed in (TokenCipher(OLD).encrypt(content), Fernet(OLD).encrypt(content.encode())):
        await store.chats.save_installation(Kept(platform=PLATFORM, place="T1", sealed=sealed, at=now))
        assert (await again(store, now)).is_unreadable("T1")


async def test_a_field_that_is_not_known_here_keeps_no_workspace_from_being_heard(store: MemoryStore, now: datetime) -> None:
    """As a later version may have written it."""
    for place, more in (("T1", {"made_up_later": 1}), ("T2", {})):
        content = json.dumps({"team_id": place, "bot_token": f"xoxb-{place}", "user_id": "U1", "place": place, **more})
        await store.chats.save_installation(
            Kept(platform=PLATFORM, place=place, sealed=TokenCipher(OLD).encrypt(content), at=now)
        )
    there = await again(store, now)
    assert (token(there.find("T1")), token(there.find("T2"))) == ("xoxb-T1", "xoxb-T2")
