"""A digest as the text that stores keep."""

import dataclasses

from bot.store.records import digest_from_text, digest_to_text, encode
from tests.fakes.digests import GPU


def bare(index: int) -> dict[str, object]:
    """Return all fields of an entry but those that are made again."""
    return dataclasses.asdict(dataclasses.replace(GPU.entries[index], card=(), why_here=""))


def test_a_digest_keeps_every_field_but_what_is_made_again_of_its_entries() -> None:
    record = dataclasses.asdict(dataclasses.replace(GPU, entries=()))
    record["entries"] = [bare(index) for index in range(len(GPU.entries))]
    for entry in record["entries"]:
        del entry["card"], entry["why_here"]
    assert digest_to_text(GPU) == encode(record)
    kept = tuple(dataclasses.replace(each, card=(), why_here="") for each in GPU.entries)
    assert digest_from_text(digest_to_text(GPU)) == dataclasses.replace(GPU, entries=kept)


def test_a_digest_of_the_same_entries_says_its_own_beside_them() -> None:
    other = dataclasses.replace(GPU, title='"entries":[]', entries=GPU.entries[:1])
    assert digest_from_text(digest_to_text(GPU)).title == GPU.title
    found = digest_from_text(digest_to_text(other))
    assert (found.title, [each.ranked.item.key for each in found.entries]) == (
        other.title,
        [other.entries[0].ranked.item.key],
    )
