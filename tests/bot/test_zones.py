"""The time zones that people type."""

import contextlib
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot import zones
from bot.errors import UsageError


@pytest.mark.parametrize(
    ("typed", "zone"),
    [
        ("Paris time", "Europe/Paris"),
        ("new york local  time", "America/New_York"),
        ("Europe/Zurich", "Europe/Zurich"),
        ("europe/zurich", "Europe/Zurich"),
        ("Zürich", "Europe/Zurich"),
        ("New York", "America/New_York"),
        ("new_york", "America/New_York"),
        ("  buenos \t aires ", "America/Argentina/Buenos_Aires"),
        ("San Francisco", "America/Los_Angeles"),
        ("Munich", "Europe/Berlin"),
        ("Germany", "Europe/Berlin"),
        ("switzerland", "Europe/Zurich"),
        ("Japan", "Asia/Tokyo"),
        ("UK", "Europe/London"),
        ("utc", "UTC"),
        ("Z", "UTC"),
        ("US/Eastern", "US/Eastern"),
        ("Etc/GMT-2", "Etc/GMT-2"),
    ],
)
def test_a_place_is_its_zone(typed: str, zone: str) -> None:
    assert zones.resolve(typed) == zone


@pytest.mark.parametrize(
    ("typed", "proposed"),
    [
        ("CET", "Europe/Zurich"),
        ("cest", "Europe/Berlin"),
        ("EST", "America/New_York"),
        ("PT", "America/Los_Angeles"),
        ("IST", "Asia/Kolkata"),
        ("GMT", "Europe/London"),
        ("UTC+2", "Etc/GMT-2"),
        ("utc −5", "Etc/GMT+5"),
        ("+05:30", "New York"),
        ("USA", "America/New_York"),
        ("Zurih", "Europe/Zurich"),
        ("Asia / Tokyo", "Asia/Tokyo"),
        ("Middle-earth", "Europe/Zurich"),
        ("", "Europe/Zurich"),
    ],
)
def test_what_is_no_place_is_answered_with_places(typed: str, proposed: str) -> None:
    with pytest.raises(UsageError) as caught:
        zones.resolve(typed)
    assert proposed in caught.value.hint


def test_every_place_that_is_proposed_exists() -> None:
    proposed = {place for places in zones._ABBREVIATIONS.values() for place in places} | set(zones._PLACES.values())
    assert proposed <= available_timezones()


def test_every_name_of_the_database_is_itself() -> None:
    for name in available_timezones():
        if "/" in name:
            assert zones.resolve(name) == name


@given(st.text(max_size=200))
def test_whatever_is_typed_gives_a_zone_or_a_sentence(typed: str) -> None:
    with contextlib.suppress(UsageError):
        ZoneInfo(zones.resolve(typed))
    assert all(ZoneInfo(name) for name in zones.beginning(typed, 5))


def test_every_place_is_found_by_its_own_name() -> None:
    for zone in zones.beginning("", 1000):
        assert zones.resolve(zone.rpartition("/")[2].replace("_", " ")) == zone


def test_zones_are_proposed_while_one_types() -> None:
    assert zones.beginning("zu") == ("Europe/Zurich",)
    assert "America/New_York" in zones.beginning("new")
    assert "America/Los_Angeles" in zones.beginning("san fr")
    assert len(zones.beginning("", 25)) == 25
    assert zones.beginning("qqq") == ()


@pytest.mark.parametrize(
    ("zone", "found"),
    [("Europe/Zurich", "Europe/Zurich"), (":Asia/Tokyo", "Asia/Tokyo"), ("CET-1CEST", "UTC"), ("Etc/UTC", "UTC")],
)
def test_the_machines_zone_is_that_of_its_environment(zone: str, found: str, tmp_path: Path) -> None:
    assert zones.of_machine({"TZ": zone}, tmp_path / "localtime") == found


def test_without_one_it_is_where_its_link_leads(tmp_path: Path) -> None:
    link = tmp_path / "localtime"
    assert zones.of_machine({}, link) == "UTC"
    link.symlink_to("/usr/share/zoneinfo/America/New_York")
    assert zones.of_machine({}, link) == "America/New_York"
