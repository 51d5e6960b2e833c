import io
import shlex
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from adapters.cli.render.reply import ReplyView, typed
from bot.models import Reply
from tests.adapters.golden import check
from tests.conftest import NOW
from tests.fakes.replies import CARD, FOUND, READING, STARRED, SUBSCRIBED, TITLES, TRENDS, UGLY

GOLDEN = Path(__file__).parent / "golden"


def printed(reply: Reply, width: int = 80) -> str:
    out = io.StringIO()
    Console(file=out, width=width, _environ={}, highlight=False, markup=False).print(ReplyView(reply, NOW.date()))
    return out.getvalue()


@pytest.mark.parametrize("width", [40, 80, 120])
def test_answers_look_as_they_did(width: int) -> None:
    check(GOLDEN / f"reply-card-{width}.txt", printed(CARD, width))
    check(GOLDEN / f"reply-found-{width}.txt", printed(FOUND, width))
    check(GOLDEN / f"reply-subscribed-{width}.txt", printed(SUBSCRIBED, width))
    check(GOLDEN / f"reply-titles-{width}.txt", printed(TITLES, width))
    check(GOLDEN / f"reply-trends-{width}.txt", printed(TRENDS, width))


@pytest.mark.parametrize("width", [10, 40, 80, 120])
@pytest.mark.parametrize("reply", [CARD, FOUND, SUBSCRIBED, TITLES, TRENDS, UGLY])
def test_no_answer_is_wider_than_the_terminal_or_steers_it(reply: Reply, width: int) -> None:
    text = printed(reply, width)

    assert all(cell_len(line) <= width for line in text.splitlines())
    assert not set(text) & set("\x1b\x00\u202e\x07")
    assert "[red]" in text or reply is not UGLY


def test_what_a_paper_says_stresses_nothing() -> None:
    assert "    Sorts *in place*, by [rank](https://x.example)\n" in printed(STARRED)


def test_a_button_is_what_one_would_type_in_a_shell() -> None:
    assert typed("unsubscribe gpu-systems") == "broadsheet unsubscribe gpu-systems"
    assert typed("search (difusion OR transfomer) sort:new") == "broadsheet search '(difusion OR transfomer) sort:new'"
    command = 'filter kv here set "kv cache" -it\'s $HOME stars:>5'
    assert shlex.split(typed(command)) == ["broadsheet", "ask", command]


def test_an_entry_says_where_it_was_posted() -> None:
    assert printed(READING).count("See the post") == 2
