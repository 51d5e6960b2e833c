"""The latest release of a repository in a sentence: what its notes say first, and nothing that they do not say."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.models import Item, Kind, Release, Summary
from bot.summarise.extractive import extract
from bot.summarise.repositories.releases import LONGEST_TAG, latest_release

OUT = datetime(2026, 6, 12, 9, tzinfo=UTC)
READ = datetime(2026, 6, 14, 7, tzinfo=UTC)
README = "Most caches are slow and difficult to size.\nTidy lets services run without an operator."


def repository(notes: str = "", *, tag: str = "v2.1", name: str = "", prerelease: bool = False, **given: object) -> Item:
    fields: dict[str, object] = {
        "release": Release(tag=tag, published=OUT, name=name, prerelease=prerelease, notes=notes),
        "releases_read": READ,
        "updated": OUT,
        **given,
    }
    return Item(key="github:tidy/tidy", kind=Kind.REPO, title="tidy/tidy", abstract="A cache", **fields)  # type: ignore[arg-type]


def why(summary: Summary) -> str:
    return summary.parts[-1].text


@pytest.mark.parametrize(
    ("notes", "said"),
    [
        ("Adds paged attention.", "Adds paged attention."),
        ("- feat(api)!: add paged attention", "Add paged attention."),
        ("- [Model] Support Qwen3-Next with FP8", "Support Qwen3-Next with FP8."),
        ("✨ Paged attention for all models", "Paged attention for all models."),
        ("This release adds paged attention.", "Adds paged attention."),
        ("This release contains code and data of the paper.", "Contains code and data of the paper."),
        ("This release modifies the code for newer GPUs.", "Modifies the code for newer GPUs."),
        ("- Numerous bug fixes\n- Torch 2.0 support", "Torch 2.0 support."),
        ("We now support paged attention.", "The authors now support paged attention."),
        ("- docs: fix the guide\n- Bump torch from 2.5 to 2.6\n- fix: crash on empty input", "Crash on empty input."),
        ("- chore: bump v0.4.10\n- [CI] Fix lint\n- core: release 0.3.2\n- Faster start", "Faster start."),
        ("We are excited to announce Tidy 2.1! It is here.\n\nCaches size themselves now.", "Caches size themselves now."),
        ("This release features 649 commits, 215 contributors!\n\n- LoRA for InternVL", "LoRA for InternVL."),
        ("- torch.compile works with Python 3.13", "torch.compile works with Python 3.13."),
        ("ggml : fix an overflow", "ggml : fix an overflow."),
    ],
)
def test_the_first_line_that_says_what_is_new_is_told(notes: str, said: str) -> None:
    sentence, quote = latest_release(repository(notes))
    assert sentence == f"Latest release v2.1 (12 June 2026): {said}"
    assert quote
    assert quote in notes


@pytest.mark.parametrize(
    "notes",
    [
        "",
        "Bug fixes and performance improvements.",
        "See CHANGELOG.md for the list of changes.",
        "Tidy library version 2.1\n\nThis release marks the end of a long road.",
        "Feature, maintenance, and bugfix release.",
        "- chore: bump version\n- Update README\n- fix typo",
        "Changes since v2.0:",
        "v2.1",
        "添加列车已到达状态",
        "It makes them faster than that.",
    ],
)
def test_notes_that_say_nothing_new_leave_the_release_alone(notes: str) -> None:
    assert latest_release(repository(notes)) == ("Latest release v2.1 (12 June 2026).", "")


def test_a_name_stands_in_for_notes_where_it_says_something() -> None:
    assert latest_release(repository(name="Tidy v2.1: Llama and Qwen models")) == (
        "Latest release v2.1 (12 June 2026): Tidy v2.1: Llama and Qwen models.",
        "",
    )
    for name in ("v2.1", "Tidy 2.1", "Release v2.1", "Tidy release"):
        assert latest_release(repository(name=name))[0] == "Latest release v2.1 (12 June 2026)."


def test_a_prerelease_is_said_to_be_one() -> None:
    said, _ = latest_release(repository("Adds caches.", tag="v3.0.0-rc1", prerelease=True))
    assert said == "Latest prerelease v3.0.0-rc1 (12 June 2026): Adds caches."


def test_a_tag_that_is_too_long_is_left_out_and_never_cut() -> None:
    assert latest_release(repository(tag="v" * (LONGEST_TAG + 1)))[0] == "Latest release (12 June 2026)."


def test_that_there_is_no_release_is_said_only_where_it_was_asked() -> None:
    assert latest_release(repository(release=None)) == ("No release was listed on 14 June 2026.", "")
    assert latest_release(repository(release=None, releases_read=None)) == ("", "")
    assert "release" not in why(extract(repository(release=None, releases_read=None)))


def test_a_release_that_was_read_long_before_the_last_push_is_dated() -> None:
    later = repository("Adds caches.", updated=READ + timedelta(days=31))
    assert latest_release(later)[0] == "On 14 June 2026 the latest release was v2.1 (12 June 2026): Adds caches."


def test_a_release_that_was_confirmed_since_is_the_latest_one() -> None:
    later = READ + timedelta(days=45)
    assert latest_release(repository(updated=later, releases_confirmed=later)) == (
        "Latest release v2.1 (12 June 2026).",
        "",
    )
    assert latest_release(repository(updated=later, releases_confirmed=READ - timedelta(days=1)))[0].startswith("On 14 June")
    none = repository(release=None, releases_confirmed=later)
    assert latest_release(none) == ("No release was listed on 29 July 2026.", "")
    assert latest_release(repository(release=None, releases_read=None, releases_confirmed=later)) == ("", "")


def test_the_release_stands_beside_what_the_readme_says() -> None:
    summary = extract(repository("Adds paged attention.", readme=README))
    assert why(summary) == (
        "Tidy lets services run without an operator. Latest release v2.1 (12 June 2026): Adds paged attention."
    )
    assert summary.parts[-1].found
    assert summary.parts[-1].quotes == ("Tidy lets services run without an operator.", "Adds paged attention.")
    assert summary.read == "description, README opening and release notes"


def test_a_release_is_no_reason_why_it_matters_and_no_evidence() -> None:
    summary = extract(repository("Adds caches that are 3 times faster than before.", license="MIT"))
    assert why(summary) == (
        "Latest release v2.1 (12 June 2026): Adds caches that are 3 times faster than before. Known: MIT licence."
    )
    assert summary.parts[-1].quotes == ("Adds caches that are 3 times faster than before.",)
    assert not any(part.found for part in summary.parts if part.name in ("Evidence", "Why it matters"))
    assert "times" not in summary.parts[2].text


def test_notes_of_which_nothing_is_told_are_not_said_to_be_read() -> None:
    assert extract(repository("- chore: bump version")).read == "description"


VERSIONS = re.compile(r"\d+(?:\.\d+)*")


@given(
    st.lists(
        st.sampled_from(
            ["We", "This release", "adds", "support", "for", "v2.10.3", "3.13", "(1.0.9)", "however,", "and", "GPUs", ":"]
        ),
        max_size=30,
    ),
    st.from_regex(r"v?[0-9]{1,3}(\.[0-9]{1,3}){0,3}(-rc\.[0-9])?", fullmatch=True),
)
def test_no_version_is_changed(words: list[str], tag: str) -> None:
    said, quote = latest_release(repository(" ".join(words), tag=tag))
    head, tail = f"Latest release {tag} (12 June 2026)", said.partition(" (12 June 2026)")[2]
    assert said.startswith(head)
    told = iter(VERSIONS.findall(quote))
    assert all(version in told for version in VERSIONS.findall(tail))


@given(st.text(max_size=300), st.text(max_size=100), st.text(min_size=1, max_size=80))
def test_any_notes_are_taken(notes: str, name: str, tag: str) -> None:
    said, quote = latest_release(repository(notes, name=name, tag=tag))
    assert said
    assert quote in notes
