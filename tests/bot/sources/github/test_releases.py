"""What a list of releases says, and what its notes say first."""

import copy
import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import SourceChanged
from bot.models import Release
from bot.sources.github.releases import AHEAD, NOTES, notes_opening, read_releases
from tests.bot.sources.mutations import mutated
from tests.bot.sources.replay import recorded, release
from tests.conftest import tries

NOW = datetime(2026, 6, 14, 7, tzinfo=UTC)
RECORDED, STABLE, LIST = (one.json() for one in recorded("releases"))


def test_recorded_releases_are_read_and_a_stable_one_comes_before_a_later_prerelease() -> None:
    assert read_releases([RECORDED], NOW) == Release(
        tag="v1.55",
        published=datetime(2025, 1, 30, 11, 12, tzinfo=UTC),
        name="Test Release",
        prerelease=True,
        notes="This is a test released used by PyGithub tests.",
    )
    latest = read_releases([RECORDED, STABLE], NOW)
    assert latest is not None
    assert (latest.tag, latest.prerelease) == ("v1.0", False)
    listed = read_releases(LIST, NOW)
    assert listed is not None
    assert (listed.tag, listed.notes) == ("v1.0.0", "Description of the release")


def test_of_several_the_one_published_last_counts_wherever_it_stands() -> None:
    latest = read_releases(
        [release("v1.9.5", "2026-05-01"), release("v2.0", "2026-06-12"), release("v1.9.4", "2026-04-01")], NOW
    )
    assert latest is not None
    assert latest.tag == "v2.0"


def test_drafts_and_what_was_never_published_are_not_told_of() -> None:
    hidden = [release("v3", draft=True), release("v4", draft="yes"), release("v5", published_at=None)]
    assert read_releases(hidden, NOW) is None
    latest = read_releases([*hidden, release("v2")], NOW)
    assert latest is not None
    assert latest.tag == "v2"


def test_a_release_of_the_future_does_not_hide_those_that_are_out() -> None:
    latest = read_releases([release("v9", "2099-01-01"), release("v2", "2026-06-12")], NOW)
    assert latest is not None
    assert latest.tag == "v2"
    assert read_releases([release("v9", "2099-01-01")], NOW) is None


def test_a_clock_that_is_a_little_ahead_hides_no_release() -> None:
    soon = [release("v2", published_at=(NOW + ahead).isoformat()) for ahead in (AHEAD, AHEAD + timedelta(seconds=1))]
    assert [read_releases([one], NOW) is not None for one in soon] == [True, False]


def test_an_empty_list_is_no_release() -> None:
    assert read_releases([], NOW) is None


@pytest.mark.parametrize("answer", [{}, None, "x", {"message": "Not Found"}, [1, 2], [{"name": "no tag"}]])
def test_what_is_no_list_of_releases_is_a_change(answer: object) -> None:
    with pytest.raises(SourceChanged, match="releases"):
        read_releases(answer, NOW)


def test_a_tag_is_kept_as_it_stands_or_not_at_all() -> None:
    latest = read_releases([release("langchain-core==0.3.1")], NOW)
    assert latest is not None
    assert latest.tag == "langchain-core==0.3.1"
    assert read_releases([release("v" + "1" * 300)], NOW) is None


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("", ""),
        ("Faster cache.", "Faster cache."),
        ("## What's Changed\r\n* Fix a crash by @ada in https://github.com/a/b/pull/7\r\n", "- Fix a crash"),
        ("* Fix a crash (#7) by @ada and @bob-b\n* New caches (@ada, @bob)", "- Fix a crash\n- New caches"),
        ("* 4ab12cdef0 feat: add caches (#12)\n* New cache, closes #12, #13", "- feat: add caches\n- New cache"),
        (
            "### Features\n\n* **api:** add caches ([#12](https://github.com/a/b/issues/12)) ([4ab12cd](https://github.com/a/b))",
            "- api: add caches",
        ),
        (
            "Changes since core==0.3.1\n\ncore: new cache\napi: new client",
            "Changes since core==0.3.1\n\ncore: new cache\n\napi: new client",
        ),
        ("A cache that was written in an editor which breaks its lines at\nseventy characters.", None),
        ("```\ndocker pull x\n```\n## New Contributors\n* @ada made their first contribution in https://x.example/1", ""),
        ("## Installation\npip install some thing\n\n## Notes\nFaster caches.", "Faster caches."),
        ("- New cache @ada (#74)\n\nThanks to all!\n- Ada Lovelace @ada\n- Bob @bob-b", "- New cache\n\nThanks to all!"),
        ("Hot fix for issue #226", None),
        ("**Full Changelog**: https://github.com/a/b/compare/v1...v2", ""),
        ("Takes (1000000) tokens, since 20260501, in C# 12 and v2.1.0 (v2.0.9)", None),
        ("<b>Bold</b> *new* [cache](javascript:alert(1)) <script>steal()</script>", "Bold new cache"),
        ("Wide\u202e cache\x1b[31m here", "Wide cache[31m here"),
        ("* feat: 添加列车已到达状态 by @ada in https://github.com/a/b/pull/7", "- feat: 添加列车已到达状态"),
    ],
)
def test_notes_say_what_is_new_and_not_who_made_it(body: str, text: str | None) -> None:
    assert notes_opening(body) == (" ".join(body.split()) if text is None else text)


def test_notes_made_to_be_slow_are_read_like_others() -> None:
    for body in (
        "(" * 20_000,
        "#1 " * 7_000,
        "@a, " * 5_000,
        " " * 20_000,
        "[#1](" * 4_000,
        "by @a and " * 2_000,
        "a/" * 9_000,
    ):
        assert len(notes_opening(body)) <= NOTES


NUMBERS = st.from_regex(r"v?[0-9]{1,3}(\.[0-9]{1,3}){1,3}", fullmatch=True)


@given(
    st.lists(NUMBERS, min_size=1, max_size=6),
    st.sampled_from(["* Support for version {} by @ada in #12", "Now with version {}"]),
)
def test_a_version_is_told_whole_or_not_at_all(versions: list[str], line: str) -> None:
    told = re.findall(r"v?\d+(?:\.\d+)+", notes_opening("\n".join(line.format(version) for version in versions)))
    assert told
    assert told == versions[: len(told)]


@given(st.text(max_size=400))
def test_any_notes_are_read(body: str) -> None:
    notes = notes_opening(body)
    assert len(notes) <= NOTES
    notes.encode()


@settings(max_examples=tries(100))
@given(st.data())
def test_any_answer_is_read_or_is_a_change(data: st.DataObject) -> None:
    answer = mutated([copy.deepcopy(RECORDED), copy.deepcopy(STABLE)], data)
    try:
        latest = read_releases(answer, NOW)
    except SourceChanged:
        return
    assert latest is None or (latest.tag and latest.published.tzinfo is not None)
