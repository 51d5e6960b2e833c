from benchmarks.heights.drawing import LAYOUTS
from benchmarks.heights.slack import SLACK
from tests.fakes.digests import EMPTY, GPU, HOSTILE


def test_whatever_a_chat_is_sent_of_a_digest_can_be_drawn() -> None:
    for digest in (GPU, EMPTY, HOSTILE):
        for layout in LAYOUTS:
            drawn = "".join(map(SLACK.drawn, SLACK.messages(digest, layout)))
            assert all(entry.ranked.item.title[:50] in drawn for entry in digest.entries if digest is GPU)
            assert "<script" not in drawn
