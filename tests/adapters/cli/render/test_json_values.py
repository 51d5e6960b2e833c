import json
from pathlib import Path

from adapters.cli.render.json_values import digest_value, reply_value
from tests.adapters.golden import check
from tests.fakes.digests import EMPTY, GPU, HOSTILE
from tests.fakes.replies import FOUND, SUBSCRIBED, UGLY

GOLDEN = Path(__file__).parent / "golden"


def test_a_digest_as_json_keeps_its_field_names() -> None:
    check(GOLDEN / "digest.json", json.dumps(digest_value(GPU), indent=1, ensure_ascii=False) + "\n")


def test_every_digest_becomes_plain_json() -> None:
    for digest in (GPU, EMPTY, HOSTILE):
        text = json.dumps(digest_value(digest), allow_nan=False)
        assert "\x1b" not in text
        json.dumps(digest_value(digest), ensure_ascii=False).encode()
        assert len(json.loads(text)["entries"]) == len(digest.entries)


def test_an_answer_as_json_keeps_its_field_names() -> None:
    check(GOLDEN / "reply.json", json.dumps(reply_value(FOUND), indent=1, ensure_ascii=False) + "\n")


def test_every_answer_becomes_plain_json() -> None:
    for reply in (FOUND, SUBSCRIBED, UGLY):
        value = json.loads(json.dumps(reply_value(reply), allow_nan=False))
        json.dumps(reply_value(reply), ensure_ascii=False).encode()
        assert [entry["number"] for entry in value["entries"]] == [*range(reply.first, reply.first + len(reply.entries))]
