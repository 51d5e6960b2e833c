"""What a tool is given."""

from typing import Any

import pytest

from adapters.mcp.tools import TOOLS, values_of
from bot.errors import UsageError


@pytest.mark.parametrize(
    ("tool", "given", "taken"),
    [
        ("show", {"item": 2}, {"item": "2"}),
        ("show", {"item": "2"}, {"item": "2"}),
        ("digest", {"number": "2", "after": 3}, {"number": 2, "after": 3}),
        ("digest", {"topic": None}, {}),
    ],
)
def test_numbers_are_taken_as_assistants_write_them(tool: str, given: dict[str, Any], taken: dict[str, Any]) -> None:
    assert values_of(TOOLS[tool], given) == taken


@pytest.mark.parametrize("given", [{"item": True}, {"item": 1.5}, {"item": ["1"]}, {"item": 10**5_000}])
def test_what_is_no_text_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="item"):
        values_of(TOOLS["show"], given)
