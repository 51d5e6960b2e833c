from datetime import timedelta

import pytest

from bot.http.pace import retry_after
from tests.conftest import NOW

HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": " 120 "}, timedelta(minutes=2)),
        ({"retry-after": "1.5"}, timedelta(seconds=1.5)),
        ({"retry-after": "Wed, 01 Apr 2026 08:00:00 GMT"}, HOUR),
        ({"retry-after": "Wed, 01 Apr 2026 10:00:00 +0200"}, HOUR),
        ({"retry-after": "Wed, 01 Apr 2026 08:00:00 -0000"}, HOUR),  # no zone is UTC
        ({"retry-after": "Wed, 01 Apr 2026 06:00:00 GMT"}, timedelta()),
        ({"retry-after": "Wed, 01 Apr 2026 08:00:00 GMT", "date": "Wed, 01 Apr 2026 07:30:00"}, HOUR / 2),
        ({}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after": "Wed, 01 Apr 2026 08:00:00 GMT", "date": "today"}, None),
    ],
)
def test_what_retry_after_says_is_understood_or_left(headers: dict[str, str], wait: timedelta | None) -> None:
    assert retry_after(headers, NOW) == wait
