"""Whoever changes a view last is the one whose answer is shown."""

from adapters.slack.forms.showing import ViewVersions


def test_only_the_last_turn_of_a_view_is_the_latest() -> None:
    latest = ViewVersions()
    first, other = latest.begin("V1"), latest.begin("V2")
    assert first.is_latest
    second = latest.begin("V1")
    assert (first.is_latest, second.is_latest, other.is_latest) == (False, True, True)


def test_turns_of_views_that_nobody_changes_any_more_are_forgotten() -> None:
    latest = ViewVersions()
    first = latest.begin("V0")
    for number in range(1, 1001):
        latest.begin(f"V{number}")
    assert not first.is_latest
