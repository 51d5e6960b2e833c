"""What one channel alone does not get is given up after an hour; what several do not get is the platform's, and never is."""

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.delivery.rate_limits import PlatformCall
from bot.delivery.rejections import APART, HOUR, SEVERAL, TRIES, Rejections
from bot.errors import Rejected
from bot.models import Abilities, Method
from tests.conftest import NOW

MOMENT = timedelta(microseconds=1)
ODD, OTHER = (Rejected("It was not taken.", failure=failure) for failure in ("status 400, code 1", "status 400, code 2"))


def post(channel: str = "C1", workspace: str = "chat:T1", method: Method = Method.POST) -> PlatformCall:
    return PlatformCall(method, workspace, channel, Abilities())


def noted(rejections: Rejections, times: int, *, call: PlatformCall | None = None, begin: datetime = NOW) -> list[bool]:
    """Note so many tries within exactly an hour; return what came of each."""
    spans = [begin + HOUR * number / (times - 1) for number in range(times)]
    return [rejections.note(call or post(), "d1", ODD, at) for at in spans]


def test_what_one_channel_alone_does_not_get_is_given_up_after_an_hour() -> None:
    assert noted(Rejections(), 7) == [False] * 6 + [True]
    assert not Rejections().note(post(), "d1", ODD, NOW)


def test_less_than_an_hour_or_fewer_than_three_tries_give_nothing_up() -> None:
    rejections = Rejections()
    noted(rejections, 7)
    begun = NOW + 3 * HOUR
    assert not any(rejections.note(post(), "d2", ODD, begun + HOUR * part / 7) for part in range(7))
    assert noted(Rejections(), TRIES - 1) == [False] * (TRIES - 1)


@pytest.mark.parametrize("other", [post("C2"), post("C1", "chat:T2")])
def test_the_same_failure_in_another_channel_is_the_platforms(other: PlatformCall) -> None:
    rejections = Rejections()
    rejections.note(other, "d2", ODD, NOW)
    assert not any(noted(rejections, 7))


@pytest.mark.parametrize(
    ("other", "error"),
    [(post("C2"), OTHER), (post("C2", "talk:T1"), ODD), (post("C2", method=Method.TELL), ODD), (post(), ODD)],
)
def test_another_failure_another_platform_another_thing_or_the_same_channel_does_not_count(
    other: PlatformCall, error: Rejected
) -> None:
    rejections = Rejections()
    for number in range(7):
        rejections.note(other, "d2", error, NOW + HOUR * number / 6)
    assert noted(rejections, 7)[-1]


def test_what_another_channel_was_refused_more_than_an_hour_ago_counts_no_more() -> None:
    rejections = Rejections()
    rejections.note(post("C2"), "d2", ODD, NOW - MOMENT)
    assert noted(rejections, 7)[-1]


@pytest.mark.parametrize("jump", [HOUR + MOMENT, -MOMENT])
def test_after_a_pause_of_more_than_an_hour_or_with_a_clock_set_back_the_hour_begins_again(jump: timedelta) -> None:
    rejections = Rejections()
    noted(rejections, 6)
    assert not any(noted(rejections, 7, begin=NOW + HOUR + jump)[:-1])


def test_it_is_known_of_each_message_whether_the_last_failure_spoke_of_what_it_says() -> None:
    rejections = Rejections()
    assert not rejections.blames_message(post(), "d1")
    rejections.note(post(), "d1", Rejected("Too long.", failure="msg_too_long", of_message=True), NOW)
    assert rejections.blames_message(post(), "d1")
    assert not rejections.blames_message(post(), "d2")
    rejections.note(post(), "d1", ODD, NOW)
    assert not rejections.blames_message(post(), "d1")


def test_what_is_too_old_to_count_is_forgotten() -> None:
    rejections = Rejections()
    for number in range(999):
        rejections.note(post(f"C{number}"), f"d{number}", ODD, NOW)
    rejections.note(post(), "d1", OTHER, NOW + 2 * HOUR)
    assert len(rejections._tried) == 1
    assert sum(map(len, rejections._places.values())) == 1


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from((ODD, OTHER)), st.timedeltas(timedelta(0), 2 * HOUR)), max_size=60)
)
def test_whatever_is_noted_only_what_is_alone_for_an_hour_is_given_up(notes: list[tuple[int, Rejected, timedelta]]) -> None:
    rejections, now = Rejections(), NOW
    history: list[tuple[datetime, int, str]] = []
    for channel, error, span in notes:
        now += span
        given_up = rejections.note(post(f"C{channel}"), f"d{channel}", error, now)
        history.append((now, channel, error.failure))
        lately = {each for at, each, failure in history if at >= now - HOUR and failure == error.failure}
        own = [at for at, each, _ in history if each == channel]
        if given_up:
            assert lately == {channel}
            assert len(own) >= TRIES
            assert now - own[0] >= HOUR
        if len(lately) >= SEVERAL:
            assert not given_up


def test_tries_are_far_enough_apart_to_be_few_and_close_enough_to_be_three_in_an_hour() -> None:
    assert APART * TRIES * 1.5 < HOUR
