from dataclasses import replace
from datetime import timedelta
from itertools import permutations
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.collect.dedupe import fold_in, merge, names, partners, same_work, twins_to_look_for
from bot.models import Item, Kind, Link, Release
from bot.sources.registry import AUTHORITY
from tests.fakes.works import DAY, paper, post, repo

CODE = Link("code", "https://github.com/Lab/Fast")


def hf(number: str = "2603.00001", **given: object) -> Item:
    return paper(number, sources=("huggingface",), categories=(), upvotes=12, org="Lab", **given)


def test_a_paper_of_two_sources_becomes_one_item_with_all_signals() -> None:
    merged = fold_in([paper(), hf(links=(CODE,))], {}, AUTHORITY)

    (item,) = merged.items
    assert item.sources == ("arxiv", "huggingface")
    assert (item.upvotes, item.org, item.categories) == (12, "Lab", ("cs.LG",))
    assert {link.rel for link in item.links} == {"abstract", "code"}
    assert merged.fresh == 1


def test_the_archives_words_win_over_those_of_who_points_at_it_in_either_order() -> None:
    theirs = hf(title="paper 2603.00001 (old title)", abstract="Shortened …")

    assert merge(theirs, paper(), AUTHORITY).title == "Paper 2603.00001"
    assert merge(paper(), theirs, AUTHORITY).title == "Paper 2603.00001"
    assert merge(paper(), theirs, AUTHORITY).abstract == paper().abstract


def test_what_only_one_record_knows_is_kept() -> None:
    assert merge(paper(abstract=""), hf(), AUTHORITY).abstract == hf().abstract
    assert merge(paper(upvotes=3), paper(), AUTHORITY).upvotes == 3
    assert merge(paper(comments=3), paper(), AUTHORITY).comments == 3


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", "A title"),
        ("abstract", "A text."),
        ("authors", ("Ada Lovelace",)),
        ("org", "Lab"),
        ("categories", ("cs.LG",)),
        ("announce", "new"),
        ("comment", "9 pages"),
        ("license", "MIT"),
        ("language", "C++"),
        ("readme", "Opening."),
        ("repo", "github:lab/fast"),
        ("paper", "arxiv:2603.00002"),
    ],
)
def test_no_field_is_lost_whoever_knows_it_and_whoever_comes_first(field: str, value: Any) -> None:
    blank = paper(title="", abstract="", authors=(), categories=())
    knowing = replace(blank, **{field: value})

    for one, other in permutations(("arxiv", "huggingface")):
        told, empty = replace(knowing, sources=(one,)), replace(blank, sources=(other,))
        assert getattr(merge(told, empty, AUTHORITY), field) == value
        assert getattr(merge(empty, told, AUTHORITY), field) == value


def test_newer_signals_replace_older_ones_even_when_they_fell() -> None:
    assert merge(hf(), replace(hf(), upvotes=7), AUTHORITY).upvotes == 7
    assert merge(hf(comments=3), hf(comments=2), AUTHORITY).comments == 2


def test_stars_at_second_hand_lag_and_never_lower_those_of_the_host() -> None:
    host, pointer = repo(stars=900), repo(stars=880, sources=("huggingface",))

    assert merge(host, pointer, AUTHORITY).stars == 900
    assert merge(pointer, host, AUTHORITY).stars == 900
    assert merge(host, repo(stars=870), AUTHORITY).stars == 870
    assert merge(host, replace(pointer, stars=950), AUTHORITY).stars == 950


def test_a_listing_says_nothing_of_releases_and_so_takes_none_away() -> None:
    read = repo(release=Release(tag="v2", published=DAY), releases_read=DAY)

    for pointer in (repo(), repo(sources=("huggingface",)), repo("owner/old", aliases=("github:owner/name",))):
        assert merge(read, pointer, AUTHORITY).release == merge(pointer, read, AUTHORITY).release == read.release


def test_a_release_that_was_taken_back_is_gone_with_the_next_reading() -> None:
    before = repo(release=Release(tag="v2", published=DAY), releases_read=DAY)
    after = merge(before, repo(releases_read=DAY + timedelta(days=1)), AUTHORITY)

    assert (after.release, after.releases_read) == (None, DAY + timedelta(days=1))


def test_that_releases_are_as_they_were_takes_none_away() -> None:
    read = repo(release=Release(tag="v2", published=DAY), releases_read=DAY)
    confirmed = repo(releases_confirmed=DAY + timedelta(days=1))

    for merged in (
        merge(read, confirmed, AUTHORITY),
        merge(confirmed, read, AUTHORITY),
        merge(merge(read, confirmed, AUTHORITY), repo(), AUTHORITY),
    ):
        assert (merged.release, merged.releases_read) == (read.release, DAY)
        assert merged.releases_confirmed == DAY + timedelta(days=1)


readings = st.lists(
    st.one_of(st.none(), st.tuples(st.integers(0, 50), st.sampled_from(["", "v1", "v2.0-rc1", "v2.0"]))),
    min_size=1,
    max_size=6,
    unique_by=lambda read: -1 if read is None else read[0],
)


@given(readings, st.randoms(use_true_random=False))
def test_merging_loses_no_release_in_whatever_order_the_records_come(
    days: list[tuple[int, str] | None], chance: Random
) -> None:
    records = [
        repo(stars=5)
        if read is None
        else repo(
            sources=(("github", "huggingface")[read[0] % 2],),
            releases_read=DAY + timedelta(days=read[0]),
            release=Release(tag=read[1], published=DAY) if read[1] else None,
        )
        for read in days
    ]
    last = max((read for read in days if read is not None), default=None)
    chance.shuffle(records)
    (merged,) = fold_in(records, {}, AUTHORITY).items

    assert merged.releases_read == (DAY + timedelta(days=last[0]) if last else None)
    assert (merged.release.tag if merged.release else "") == (last[1] if last else "")


def test_an_old_version_arriving_late_does_not_bring_its_words_back() -> None:
    now = paper(version=3, title="Third title", updated=DAY)
    late = paper(version=1, title="First title", updated=DAY - timedelta(days=9))

    assert merge(now, late, AUTHORITY).title == "Third title"
    assert merge(now, late, AUTHORITY).version == 3
    assert merge(now, late, AUTHORITY).updated == DAY


def test_a_withdrawn_paper_comes_back_with_a_later_version_only() -> None:
    withdrawn = paper(version=2, withdrawn=True)

    assert merge(withdrawn, hf(), AUTHORITY).withdrawn
    assert merge(withdrawn, paper(version=1), AUTHORITY).withdrawn
    assert not merge(withdrawn, paper(version=3), AUTHORITY).withdrawn
    assert merge(paper(version=1), withdrawn, AUTHORITY).withdrawn


def test_the_first_sight_of_an_item_is_kept() -> None:
    seen = paper(seen=DAY - timedelta(days=2))

    assert merge(seen, paper(), AUTHORITY).seen == DAY - timedelta(days=2)


def test_a_record_that_shares_an_alias_with_two_items_makes_them_one_and_retires_the_other_key() -> None:
    by_doi = post("x", key="doi:10.1/x", kind=Kind.PAPER)
    by_id = paper()
    bridge = paper(aliases=("doi:10.1/x",))

    merged = fold_in([bridge], {"doi:10.1/x": by_doi, by_id.key: by_id}, AUTHORITY)

    assert [item.key for item in merged.items] == [by_id.key]
    assert merged.retired == ("doi:10.1/x",)
    assert "doi:10.1/x" in merged.items[0].aliases
    assert merged.fresh == 0


def test_a_renamed_repository_takes_its_new_key_and_keeps_the_old_as_alias() -> None:
    old = repo("lab/old", stars=5)
    new = repo("lab/new", aliases=("github:lab/old",), stars=6)

    merged = fold_in([new], {old.key: old}, AUTHORITY)

    assert (merged.items[0].key, merged.items[0].stars) == ("github:lab/new", 6)
    assert merged.retired == ("github:lab/old",)


def test_a_record_whose_key_is_another_name_of_a_stored_item_is_that_item() -> None:
    entry = post("fast")
    stored = paper(aliases=(entry.key,))

    merged = fold_in([entry], {entry.key: stored}, AUTHORITY)

    assert ([item.key for item in merged.items], merged.retired, merged.fresh) == ([stored.key], (), 0)


def test_a_paper_that_names_its_code_is_joined_with_the_repository_whichever_comes_first() -> None:
    both = (paper(links=(CODE,)), repo("Lab/Fast"))
    for order in permutations(both):
        joined = {item.kind: item for item in fold_in(order, {}, AUTHORITY).items}

        assert joined[Kind.PAPER].repo == "github:lab/fast"
        assert joined[Kind.REPO].paper == "arxiv:2603.00001"


def test_a_repository_seen_on_a_later_day_is_joined_with_the_stored_paper() -> None:
    stored = fold_in([paper(links=(CODE,))], {}, AUTHORITY).items[0]
    assert stored.repo == "github:lab/fast"

    arriving = repo("Lab/Fast", links=(Link("abstract", "https://arxiv.org/abs/2603.00001v2"),))
    merged = fold_in([arriving], {stored.key: stored}, AUTHORITY)

    assert {item.key: item.paper for item in merged.items}["github:lab/fast"] == stored.key


def test_a_repository_that_many_papers_name_stays_with_the_first() -> None:
    papers = [paper("2603.00001", links=(CODE,)), paper("2603.00002", links=(CODE,))]
    items = {item.key: item for item in fold_in([repo("Lab/Fast"), *papers], {}, AUTHORITY).items}

    assert items["github:lab/fast"].paper == "arxiv:2603.00001"


def test_names_hold_the_other_half_so_that_it_can_be_looked_up() -> None:
    assert names(paper(links=(CODE,), aliases=("doi:10.1/x",))) == ("arxiv:2603.00001", "doi:10.1/x", "github:lab/fast")
    assert partners(post()) == ()


def test_the_same_long_title_and_an_author_in_common_is_the_same_work() -> None:
    title = "A Long and Quite Particular Title"
    theirs = post(title="A long and quite particular titles", authors=("A. Lovelace",))

    assert same_work(paper(title=title), theirs)
    assert not same_work(paper(title=title), replace(theirs, authors=("Somebody Else",)))
    assert not same_work(paper(title="Attention"), replace(theirs, title="Attention"))
    assert not same_work(paper(title=title), replace(theirs, kind=Kind.REPO))


def test_two_papers_that_the_archive_numbers_apart_stay_two() -> None:
    """It does happen: one DOI given for both halves of a work, one title submitted again under a new number."""
    title = "A Long and Quite Particular Title"
    first = paper("2603.00001", title=title, aliases=("doi:10.1/a",))
    second = paper("2603.00002", title=title, aliases=("doi:10.1/a", "arxiv:2603.00001"))

    assert not same_work(first, replace(second, aliases=()))
    for order in permutations((first, second)):
        kept = fold_in(order, {}, AUTHORITY).items

        assert {item.key for item in kept} == {first.key, second.key}
        assert sorted(alias for item in kept for alias in item.aliases) == ["doi:10.1/a"]


def test_what_two_papers_are_both_named_in_goes_to_one_of_them() -> None:
    known = {item.key: item for item in (paper("2603.00001"), paper("2603.00002"))}
    bridge = post("both", aliases=tuple(known))

    merged = fold_in([bridge], known, AUTHORITY)

    assert merged.retired == ()
    assert [item.key for item in merged.items] == ["arxiv:2603.00001"]
    assert merged.items[0].aliases == (bridge.key,)


def test_a_feeds_column_of_the_same_name_every_week_is_not_one_work() -> None:
    last = post("column-1", title="What we have read this week")
    new = post("column-2", title=last.title, published=DAY + timedelta(days=7), appeared=DAY + timedelta(days=7))

    assert not same_work(last, new)
    assert same_work(last, replace(new, appeared=last.appeared))
    assert same_work(last, replace(new, sources=("feed:partner",)))


def test_only_an_unknown_entry_of_a_feed_is_looked_for_by_its_title() -> None:
    entry = post(title="A Long and Quite Particular Title")

    assert twins_to_look_for([entry, paper(title=entry.title), repo()], {}, AUTHORITY) == [entry]
    assert twins_to_look_for([entry], {entry.key: entry}, AUTHORITY) == []


records = st.lists(
    st.builds(
        lambda number, source, alias, upvotes: paper(
            f"2603.0000{number}", sources=(source,), aliases=alias, upvotes=upvotes
        ),
        st.integers(1, 4),
        st.sampled_from(["arxiv", "huggingface", "feed:x"]),
        st.sampled_from([(), ("doi:10.1/a",), ("doi:10.1/b",)]),
        st.none() | st.integers(0, 9),
    ),
    max_size=8,
)


@given(records, st.integers(0, 8))
def test_batches_may_be_cut_anywhere_without_losing_or_doubling_a_work(all_records: list[Item], cut: int) -> None:
    store: dict[str, Item] = {}
    for batch in (all_records[:cut], all_records[cut:]):
        known = {name: item for item in store.values() for name in (item.key, *item.aliases)}
        merged = fold_in(batch, known, AUTHORITY)
        store = {key: item for key, item in store.items() if key not in merged.retired} | {i.key: i for i in merged.items}

    claimed = [name for item in store.values() for name in (item.key, *item.aliases)]
    assert len(claimed) == len(set(claimed))
    assert {name for record in all_records for name in (record.key, *record.aliases)} <= set(claimed)
    assert {s for r in all_records for s in r.sources} == {s for i in store.values() for s in i.sources}
