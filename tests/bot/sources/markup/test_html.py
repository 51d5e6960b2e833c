"""Foreign HTML as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.sources.markup.html import clean_text, links_of_html, text_of_html
from tests.effort import effort


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("plain", "plain"),
        ("a &amp; b &lt;c&gt; &#x1F600; &nbsp;d", "a & b <c> 😀 d"),
        ("<p>one</p><p>two <b>bo</b>ld</p>three<br>four", "one\ntwo bold\nthree\nfour"),
        ("<div>a</div>b<ul><li>c<li>d</ul>e", "a\nb\nc\nd\ne"),
        ("x\n  y\t z", "x y z"),
        ("<pre>a\n  b</pre>c\nd", "a\nb\nc d"),
        ("<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>", "1 2\n3"),
        ("<title>t</title><style>s</style>a<script>b</script><!-- c --><iframe>d</iframe><svg><text>e</text></svg>f", "af"),
        ("<p>unclosed <b>tags <i>all over", "unclosed tags all over"),
        ("a < b and c > d", "a < b and c > d"),
        ("<p onclick=x>a</p", "a"),
        ("zero\u200bwidth \u202eevil\u202c \x00\x07bell", "zerowidth evil bell"),
        ("family 👨\u200d👩\u200d👧", "family 👨\u200d👩\u200d👧"),
        ("\ud800lone", "?lone"),
        ("<html><head><title>x</title></head><body>y</body></html>", "y"),
    ],
)
def test_html_becomes_the_text_that_a_reader_sees(html: str, text: str) -> None:
    assert text_of_html(html) == text


def test_the_text_is_cut_at_its_limit() -> None:
    assert text_of_html("<p>" + "word " * 9000, limit=12) == "word word wo"
    assert len(text_of_html("x" * 500_000)) == 20_000


def test_plain_text_keeps_what_looks_like_a_tag() -> None:
    assert clean_text(" a <b>\r\n\r\n\x00 c\t d ") == "a <b>\nc d"


def test_links_are_those_of_the_web_each_once() -> None:
    html = '<a href="https://a.example/x">a</a><a href="javascript:alert(1)">b</a><a href=" HTTP://b.example ">c</a><a>d</a>'
    assert links_of_html(html + html) == ("https://a.example/x", "HTTP://b.example")
    assert links_of_html(html, limit=1) == ("https://a.example/x",)


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 100_000,
        "<b><p>" * 50_000,
        "<" * 200_000,
        "&#x41;" * 100_000,
        "<table>" * 50_000,
        "</p>" * 50_000,
        "<a " * 90_000,
    ],
)
def test_no_html_takes_much_longer_than_plain_html_of_its_length(html: str) -> None:
    plain = ('<p>We propose a <b>cache</b> &amp; more, see <a href="https://x.org">here</a>.</p>\n' * 10_000)[: len(html)]
    assert effort(lambda: text_of_html(html)) < 80 * effort(lambda: text_of_html(plain))


@given(st.text(alphabet=st.sampled_from('<>/&;ap!-"= \n\ud800\x00'), max_size=60) | st.text())
def test_no_text_raises(text: str) -> None:
    text_of_html(text).encode()
    clean_text(text).encode()
    links_of_html(text)
