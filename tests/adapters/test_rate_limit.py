"""How much may be asked for in a while."""

from adapters.rate_limit import RateLimit


def test_so_much_a_minute_is_taken_at_once_or_spread() -> None:
    time = [0.0]
    limit = RateLimit(6, lambda: time[0])
    assert [limit.takes("a") for _ in range(7)] == [True] * 6 + [False]
    assert limit.takes("b", 6)
    time[0] += 10
    assert [limit.takes("a") for _ in range(2)] == [True, False]
    time[0] += 600
    assert [limit.takes("a", 6), limit.takes("a")] == [True, False]


def test_of_very_many_names_those_that_ask_are_remembered() -> None:
    limit = RateLimit(2, lambda: 0.0)
    assert limit.takes("me", 2)
    for number in range(25_000):
        limit.takes(f"n{number}")
        assert not limit.takes("me")
