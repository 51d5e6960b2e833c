import html
import re

from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.render.blocks import exact, link, literal
from adapters.slack.render.messages import Mentions, as_mrkdwn, sentence, stressed
from tests.adapters.slack.hostile import nodes


def test_control_characters_are_entities_and_marks_at_the_edge_of_a_word_signs_that_look_alike() -> None:
    assert exact("<!channel> R&D") == "&lt;!channel&gt; R&amp;D"
    assert exact("*a* _b_ ~c~ `d`") == "∗a∗ ˍbˍ ∼c∼ ˋdˋ"
    assert exact("snake_case 2*3 a~b") == "snake_case 2*3 a~b"
    assert exact("> quoted") == "› quoted"


@given(st.text())
def test_no_text_opens_a_sequence_of_slacks(text: str) -> None:
    assert not set("<>") & set(exact(text))
    assert "&" not in re.sub("&(?:amp|lt|gt);", "", exact(text))


def test_a_link_is_made_only_of_an_address_that_is_safe_and_a_label_that_cannot_end_it() -> None:
    assert link("https://arxiv.org/abs/1?a=1&b=2", "A | B > C") == "<https://arxiv.org/abs/1?a=1&amp;b=2|A ¦ B &gt; C>"
    assert link("https://arxiv.org/abs/1") == "<https://arxiv.org/abs/1>"
    for bad in ("javascript:alert(1)", "https://a.example|<!channel>", "https://a@b.example/", ""):
        assert link(bad, "<!here> x") == "&lt;!here&gt; x"
    assert "|" not in link("https://a.example/x|y", "t").removeprefix("<").split("|t")[0]


def test_a_text_that_is_not_parsed_is_the_same_whether_slack_decodes_entities_or_not() -> None:
    assert literal("a <b> & c") == "a <b> & c"
    assert literal("<!here> <@U1> &lt; &amp;lt;") == "<\u2060!here> <\u2060@U1> &\u2060lt; &\u2060amp;lt;"
    assert html.unescape(literal("&lt;!here&gt;")) == literal("&lt;!here&gt;")


def test_commands_are_code_and_what_is_only_stressed_is_bold() -> None:
    runs = [(node["text"], node.get("style")) for node in sentence("*search kv* finds *kv cache*.", 100)]

    assert runs == [
        ("/digest search kv", {"code": True}),
        (" finds ", None),
        ("kv cache", {"bold": True}),
        (".", None),
    ]
    assert as_mrkdwn("*search kv* finds *kv_cache*", 100) == "/digest search kv finds kv_cache"
    assert [run.get("style") for run in stressed("matches *search engine*", 100)] == [None, {"bold": True}]


def test_an_identifier_is_a_channel_only_as_a_whole_word() -> None:
    runs = sentence("in C1, C12 and *C1*", 100, Mentions(["C1"]))

    assert [node["channel_id"] for node in nodes(runs) if node["type"] == "channel"] == ["C1", "C1"]
    assert [node["text"] for node in nodes(runs) if node["type"] == "text"] == ["in ", ", C12 and "]
