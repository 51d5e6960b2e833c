import json
from pathlib import Path

from adapters.cli.as_json import digest_value, page_value
from tests.adapters.golden import check
from tests.fakes.digests import EMPTY, FOUND, GPU, HOSTILE

GOLDEN = Path(__file__).parent / "golden"


def test_a_digest_as_json_keeps_its_field_names() -> None:
    check(GOLDEN / "digest.json", json.dumps(digest_value(GPU), indent=1, ensure_ascii=False) + "\n")


def test_every_digest_becomes_plain_json() -> None:
    for digest in (GPU, EMPTY, HOSTILE):
        text = json.dumps(digest_value(digest), allow_nan=False)
        assert "\x1b" not in text
        json.dumps(digest_value(digest), ensure_ascii=False).encode()
        assert len(json.loads(text)["entries"]) == len(digest.entries)


def test_search_results_as_json_hold_items_and_relevance() -> None:
    value = page_value(FOUND)
    assert value["more"] is True
    hits = value["hits"]
    assert isinstance(hits, list)
    assert isinstance(hits[0], dict)
    assert hits[0]["relevance"] == 12.4
