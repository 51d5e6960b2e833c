"""What telephones and chat clients do to a text on its way."""

from datetime import time as clock

import pytest
from hypothesis import given

from bot.commands import (
    Command,
    Filter,
    FilterAction,
    Less,
    More,
    Now,
    Pause,
    Save,
    Scope,
    Search,
    Similar,
    Subscribe,
    Why,
    parse,
)
from bot.commands.words import clean
from bot.models import Layout
from tests.bot.commands.generate import texts

_GPU = "gpu-systems"


@pytest.mark.parametrize(
    ("text", "command"),
    [
        # Slack: links, mentions, entities
        ("search <https://arxiv.org/abs/2606.01234|2606.01234>", Search("https://arxiv.org/abs/2606.01234")),
        ("search id:<https://arxiv.org/abs/2606.01234>", Search("id:https://arxiv.org/abs/2606.01234")),
        ("search <http://Node.js|Node.js> stars:&gt;500", Search("Node.js stars:>500")),
        ("search author:<mailto:ann@lab.example|ann@lab.example>", Search("author:ann@lab.example")),
        ("search R&amp;D -stars:&lt;10 &amp;lt;a", Search("R&D -stars:<10 &lt;a")),
        ("similar <https://github.com/owner/name?a=1&amp;b=2|owner/name>", Similar("https://github.com/owner/name?a=1&b=2")),
        ("why <https://arxiv.org/abs/2606.01234>?", Why("https://arxiv.org/abs/2606.01234")),
        ("save <https://github.com/owner/name|github.com/owner/name>.", Save("https://github.com/owner/name")),
        ("<@U0123|broadsheet> search kv", Search("kv")),
        ("<@U0123>: search kv", Search("kv")),
        ("search <@U0123|ann> in <#C0123|general> <!here>", Search("@ann in #general @here")),
        ("<!subteam^S1|@papers> search kv", Search("kv")),
        # Discord: mentions, commands, links without a preview
        ("<@123456789> search kv", Search("kv")),
        ("<@!123456789>, search kv", Search("kv")),
        ("</search:123456789> kv", Search("kv")),
        ("</digest search:123456789> kv", Search("kv")),
        ("more <https://arxiv.org/abs/2606.01234> for gpu-systems", More("https://arxiv.org/abs/2606.01234", _GPU)),
        # our own name, a slash, code, bold
        ("/digest search kv", Search("kv")),
        ("/search kv", Search("kv")),
        ("digest search kv", Search("kv")),
        ("Broadsheet, search kv", Search("kv")),
        ("@broadsheet /digest search kv", Search("kv")),
        ("`/digest search kv`", Search("kv")),
        ("```\nsearch kv\n```", Search("kv")),
        ("*search kv*", Search("kv")),
        ("search `stars:>100 kv`", Search("stars:>100 kv")),
        ("search `kv` `cache`", Search("`kv` `cache`")),
        ("SEARCH: kv", Search("kv")),
        # telephones: capital letters, full stops, curly quotation marks, long dashes
        ("Search kv cache.", Search("kv cache")),
        ("Search kind:repo!", Search("kind:repo")),
        ("search stars:10..", Search("stars:10..")),
        ("Search “kv cache” –survey —robot", Search("“kv cache” –survey —robot")),
        ("Now gpu-systems.", Now(_GPU)),
        ("More “Attention is all you need” for gpu-systems.", More("Attention is all you need", _GPU)),
        ("Less ‘Attention is all you need’.", Less("Attention is all you need")),
        ("Pause gpu-systems until Monday.", Pause(_GPU, until="Monday")),
        ("Subscribe gpu-systems —top 5, ––compact.", Subscribe(topic=_GPU, entries=5, layout=Layout.BRIEF)),
        ("subscribe gpu-systems --at=9 --in=Europe/Zurich", Subscribe(topic=_GPU, at=clock(9), zone="Europe/Zurich")),
        ("filter gpu-systems Set -survey", Filter(_GPU, FilterAction.SET, "-survey")),
        ("Filter gpu-systems, everywhere, clear.", Filter(_GPU, FilterAction.CLEAR, scope=Scope.TOPIC)),
        # blanks that are none, signs that nobody sees, line breaks
        ("search\u00a0kv\u2009cache", Search("kv cache")),
        ("\ufeffsearch \u200bkv\u200b \u2066cache\u2069", Search("kv cache")),
        ("sear\u00adch kv", Search("kv")),
        ("now gpu\u200b-systems", Now(_GPU)),
        ("now gpu\u2011systems", Now(_GPU)),
        ("search می\u200cخواهم", Search("می\u200cخواهم")),
        ("search kv\x00cache", Search("kv cache")),
        ("search kv \ud83d cache", Search("kv \ufffd cache")),
        ("  search\r\n  kv\r\n  cache\r\n", Search("kv cache")),
        ("why (https://arxiv.org/abs/2606.01234).", Why("https://arxiv.org/abs/2606.01234")),
        ("why https://en.example/wiki/Cache_(computing)", Why("https://en.example/wiki/Cache_(computing)")),
        ("more #3", More("3")),
    ],
)
def test_what_clients_make_of_a_command_is_understood(text: str, command: Command) -> None:
    assert parse(text) == command


@given(texts())
def test_every_place_in_the_cleaned_text_leads_back_to_one_in_what_was_typed(text: str) -> None:
    typed = clean(text)
    places = [typed.origin(at) for at in range(len(typed.text) + 1)]

    assert places == sorted(places)
    assert places[0] >= 0
    assert places[-1] <= len(text)


def test_a_place_behind_links_and_entities_is_where_it_stood() -> None:
    text = "search <https://arxiv.org/abs/2606.01234|x> &amp; \u200b kv  cache"
    typed = clean(text)

    for word in ("search", "kv", "cache"):
        assert typed.origin(typed.text.index(word)) == text.index(word)
    assert typed.origin(typed.text.index("arxiv")) == text.index("<https")
    assert typed.origin(typed.text.index("& ")) == text.index("&amp;")
    assert typed.origin(len(typed.text)) == len(text)
