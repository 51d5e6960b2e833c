"""Where pages are read from outside."""

import pytest
from pydantic import ValidationError

from bot.settings.web import WebSettings


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("", ""),
        ("https://papers.lab.example/", "https://papers.lab.example"),
        ("https://lab.example:8443/papers", "https://lab.example:8443/papers"),
        ("http://127.0.0.1:3010", "http://127.0.0.1:3010"),
        ("http://localhost:3010/", "http://localhost:3010"),
    ],
)
def test_an_address_from_outside_is_kept(url: str, kept: str) -> None:
    assert WebSettings(url=url).url == kept


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("papers.lab.example", "such as https://papers.lab.example"),
        ("ftp://papers.lab.example", "such as https://"),
        ("https://", "such as https://"),
        ("https://ada:pw@papers.lab.example", "such as https://"),
        ("http://papers.lab.example", "must begin with https://"),
        ("https://papers.lab.example/?a=b", "without"),
        ("https://papers.lab.example/#a", "without"),
        ("https://l\u00e4b.example", "in ASCII"),
        ("https://papers.lab.example/a\tb", "in ASCII"),
        (f"https://papers.lab.example/{'a' * 200}", "at most 200 characters"),
    ],
)
def test_what_no_link_can_begin_with_is_refused(url: str, sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        WebSettings(url=url)
