"""Who may read which channel, as Slack says: for who asks from a browser."""

from collections.abc import AsyncIterator

import pytest

from bot.errors import DeliveryError
from bot.ports.messenger import Visibility
from tests.adapters.slack.running_messenger import Room, posting
from tests.fakes.slack import Failure, Kind

HERE = "slack:T0BROAD"


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    async with posting() as made:
        yield made


async def test_a_member_reads_public_channels_of_the_app_and_private_ones_that_both_are_in(room: Room) -> None:
    assert isinstance(room.messenger, Visibility)
    fake = room.fake
    both = fake.add_channel("C0BOTH", "both", joined=True, kind=Kind.PRIVATE)
    theirs = fake.add_channel("C0THEIRS", "theirs", joined=True, kind=Kind.PRIVATE)
    theirs.members.remove(fake.anna.id)
    fake.general.members.remove(fake.anna.id)
    every = [each.id for each in (fake.general, fake.secret, both, theirs)] + ["C0GONE"]
    assert await room.messenger.visible_to(HERE, fake.anna.id, every) == {fake.general.id, both.id}
    assert await room.messenger.open_to_all(HERE, every) == {fake.general.id}
    assert fake.rejected == []


async def test_a_guest_reads_only_what_they_are_in_and_who_has_left_nothing(room: Room) -> None:
    fake = room.fake
    guest = fake.add_person("U0GUEST", "guest", is_guest=True)
    single = fake.add_person("U0SINGLE", "single", is_single_channel_guest=True)
    inside = fake.add_channel("C0INSIDE", "inside", joined=True)
    every = [fake.general.id, inside.id]
    for person in (guest, single):
        assert await room.messenger.visible_to(HERE, person.id, every) == {inside.id}
    fake.ben.is_deleted = True
    assert not await room.messenger.visible_to(HERE, fake.ben.id, every)


async def test_who_is_of_another_organisation_reads_only_what_is_shared_with_them(room: Room) -> None:
    fake = room.fake
    theirs = fake.add_team("T0THEIRS")
    visitor = fake.add_person("U0VISITOR", "visitor", team=theirs)
    shared = fake.add_channel("C0SHARED", "shared", joined=True)
    fake.share_channel(shared, theirs, joined=False)
    every = [fake.general.id, shared.id]
    assert await room.messenger.visible_to(HERE, visitor.id, every) == {shared.id}
    assert await room.messenger.visible_to(HERE, fake.anna.id, every) == set(every)


async def test_who_is_of_another_workspace_of_the_organisation_reads_only_what_they_are_in(room: Room) -> None:
    fake = room.fake
    fake.team.enterprise = "E0"
    colleague = fake.add_person("U0COLLEAGUE", "colleague", team=fake.add_team("T0OTHER", enterprise="E0"))
    inside = fake.add_channel("C0INSIDE", "inside", joined=True)
    fake.share_channel(inside, fake.world.teams["T0OTHER"], joined=False)
    assert await room.messenger.visible_to(HERE, colleague.id, [fake.general.id, inside.id]) == {inside.id}


async def test_an_archived_public_channel_is_read_by_members_and_a_private_one_by_nobody_of_whom_slack_does_not_say_so(
    room: Room,
) -> None:
    fake = room.fake
    guest = fake.add_person("U0GUEST", "guest", is_guest=True)
    public = fake.add_channel("C0PUBLIC", "public", joined=True)
    private = fake.add_channel("C0PRIVATE", "private", joined=True, kind=Kind.PRIVATE)
    for each in (public, private):
        each.is_archived = True
        each.members.clear()
    every = [fake.general.id, public.id, private.id, "C0GONE"]
    for _ in range(2):
        assert await room.messenger.visible_to(HERE, fake.anna.id, every) == {fake.general.id, public.id}
        assert await room.messenger.open_to_all(HERE, every) == {fake.general.id, public.id}
        assert await room.messenger.visible_to(HERE, guest.id, every) == set()
    asked = [each.args["channel"] for each in fake.requests if each.method == "conversations.info"]
    assert sorted(asked) == ["C0GONE", "C0PRIVATE", "C0PUBLIC"], "once in ten minutes"
    private.members |= {fake.anna.id, fake.team.app_user.id}
    assert await room.messenger.visible_to(HERE, fake.anna.id, every) == {fake.general.id, public.id, private.id}


async def test_however_many_channels_slack_is_asked_about_some_at_a_time_each_has_its_turn(room: Room) -> None:
    gone, last = [f"C0GONE{number:02}" for number in range(30)], room.fake.add_channel("C0LAST", "last", joined=True)
    last.is_archived = True
    last.members.clear()
    assert await room.messenger.open_to_all(HERE, [*gone, last.id]) == set()
    assert len([each for each in room.fake.requests if each.method == "conversations.info"]) == 20
    assert await room.messenger.open_to_all(HERE, [*gone, last.id]) == {last.id}


async def test_a_public_channel_that_the_app_was_put_out_of_is_shown_to_nobody(room: Room) -> None:
    other = room.fake.add_channel("C0OTHER", "other", joined=False)
    other.members.discard(room.fake.anna.id)
    assert await room.messenger.open_to_all(HERE, [other.id]) == set()
    assert await room.messenger.visible_to(HERE, room.fake.anna.id, [other.id]) == set()


async def test_where_slack_does_not_say_nobody_is_taken_to_know_of_anything(room: Room) -> None:
    for method in ("users.info", "users.conversations"):
        room.fake.fail(method, Failure(error="fatal_error"))
        with pytest.raises(DeliveryError):
            await room.messenger.visible_to(HERE, room.fake.anna.id, [room.fake.general.id])
    room.fake.fail("users.conversations", Failure(error="missing_scope"))
    with pytest.raises(DeliveryError):
        await room.messenger.open_to_all(HERE, [room.fake.general.id])


async def test_who_is_a_member_is_told_of_guests_and_visitors_but_of_nobody_who_left(room: Room) -> None:
    fake = room.fake
    guest = fake.add_person("U0GUEST", "guest", is_guest=True)
    theirs = fake.add_team("T0THEIRS")
    visitor = fake.add_person("U0VISITOR", "visitor", team=theirs)
    fake.share_channel(fake.add_channel("C0SHARED", "shared", joined=True), theirs, joined=False)
    for person in (fake.anna, guest, visitor):
        assert await room.messenger.is_member(HERE, person.id)
    fake.anna.is_deleted = True
    assert not await room.messenger.is_member(HERE, fake.anna.id)
    assert not await room.messenger.is_member(HERE, "U0NOBODY")
    fake.fail("users.info", Failure(error="fatal_error"))
    with pytest.raises(DeliveryError):
        await room.messenger.is_member(HERE, guest.id)
