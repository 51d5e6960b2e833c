"""Bibliographies, read back by the libraries that people read them with."""

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest
import rispy
from bibtexparser.entrypoint import parse_string
from bibtexparser.middlewares import LatexDecodingMiddleware, SeparateCoAuthors, SplitNameParts
from bibtexparser.model import Entry
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.handlers.wording.bibliography import Name, bibtex, markdown, name_of, ris, to_latex, url_of
from bot.models import Item, Kind
from tests.conftest import tries
from tests.fakes.works import paper, post, repo

JUNE = datetime(2026, 6, 11, tzinfo=UTC)
VLLM = repo("vllm-project/vllm", title="vllm-project/vllm", published=datetime(2023, 2, 9, tzinfo=UTC), updated=JUNE)


def read_bibtex(items: Sequence[Item]) -> list[Entry]:
    """Read the export strictly: no block fails, and accents are letters again."""
    decoding = LatexDecodingMiddleware(keep_math_mode=False)
    library = parse_string(bibtex(items), append_middleware=[decoding])
    assert not library.failed_blocks
    return library.entries


def people(item: Item) -> list[tuple[str, ...]]:
    """The authors as BibTeX's own algorithm splits them: (first, von, last, jr), joined by spaces."""
    middleware = [SeparateCoAuthors(), SplitNameParts()]
    (entry,) = parse_string(bibtex([item]), append_middleware=middleware).entries
    return [tuple(" ".join(part) for part in (name.first, name.von, name.last, name.jr)) for name in entry["author"]]


# --- BibTeX


def test_a_paper_of_arxiv_is_a_misc_with_its_eprint() -> None:
    item = paper("2606.01234", title="KV cache reuse", published=JUNE, categories=("cs.DC", "cs.LG"))

    (entry,) = read_bibtex([item])

    assert (entry.entry_type, entry.key) == ("misc", "lovelace2026cache")
    fields = {name: field.value for name, field in entry.fields_dict.items()}
    assert fields == {
        "title": "KV cache reuse",
        "author": "Lovelace, Ada and Turing, Alan",
        "year": "2026",
        "month": "jun",
        "eprint": "2606.01234",
        "archivePrefix": "arXiv",
        "primaryClass": "cs.DC",
        "url": "https://arxiv.org/abs/2606.01234",
        "abstract": "We present a method. It is fast.",
    }


def test_a_repository_is_software_and_a_post_is_a_page() -> None:
    software, page = read_bibtex([VLLM, post("news")])

    assert (software.entry_type, software["url"]) == ("software", "https://github.com/vllm-project/vllm")
    assert (software["author"], software["year"]) == ("vllm-project", "2026")
    assert (page.entry_type, page["url"]) == ("misc", "https://lab.example/news")


def test_a_registered_doi_is_given_beside_the_eprint() -> None:
    (entry,) = read_bibtex([paper("2606.01234", aliases=("doi:10.1145/3600006.3613165",))])

    assert (entry["doi"], entry["eprint"]) == ("10.1145/3600006.3613165", "2606.01234")


def test_works_of_one_author_year_and_word_get_keys_of_their_own() -> None:
    same = [paper(f"2606.0000{number}", title="Cache", published=JUNE) for number in range(3)]

    keys = [entry.key for entry in read_bibtex(same)]

    assert keys == ["lovelace2026cache", "lovelace2026cache-2", "lovelace2026cache-3"]


def test_a_work_without_a_latin_name_or_date_is_called_by_its_number() -> None:
    item = paper("2606.01234", authors=("张三",), title="多模态", published=None, appeared=None)

    (entry,) = read_bibtex([item])

    assert (entry.key, entry["title"]) == ("arxiv260601234", "多模态")
    assert "year" not in entry


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("Ludwig van Beethoven", ("Ludwig", "van", "Beethoven", "")),
        ("Aaron van den Oord", ("Aaron", "van den", "Oord", "")),
        ("Juan de la Cruz", ("Juan", "de la", "Cruz", "")),
        ("John Smith Jr.", ("John", "", "Smith", "Jr.")),
        ("Smith, Jr., John", ("John", "", "Smith", "Jr.")),
        ("Dao, Tri", ("Tri", "", "Dao", "")),
        ("Quoc V. Le", ("Quoc V.", "", "Le", "")),
        ("Santiago Ramón y Cajal", ("Santiago", r"Ram{\'o}n y", "Cajal", "")),
        ("Łukasz Kaiser", (r"{\L}ukasz", "", "Kaiser", "")),
        ("OpenAI", ("", "", "{OpenAI}", "")),
        ("ATLAS Collaboration", ("", "", "{ATLAS Collaboration}", "")),
        ("Procter and Gamble", ("", "", "{Procter and Gamble}", "")),
    ],
)
def test_bibtex_reads_a_name_in_its_parts(written: str, parts: tuple[str, ...]) -> None:
    assert people(paper(authors=(written,))) == [parts]


def test_authors_whom_the_source_did_not_name_are_others() -> None:
    assert people(paper(authors=("Ada Lovelace", "et al.")))[1] == ("", "", "others", "")


def test_a_joined_last_name_is_kept_together() -> None:
    assert name_of("Jan Van den Berg") == Name("Van den Berg", "Jan")
    assert name_of("Rui Costa e Silva") == Name("Costa e Silva", "Rui")


@pytest.mark.parametrize(
    "title",
    [
        "100% of $5 & more_or_less #1 ~ ^ a\\b",
        "Sets {a, b} and an unmatched { brace } }",
        "x < y > z | w",
        "Schrödinger, Đặng, Łódź, Ångström, ıspanak, ñandú and ế",
        "量子计算 и кубиты",
        'A "quoted" title @misc{evil, title={x}}',
    ],
)
def test_what_tex_takes_for_a_command_reads_back_as_it_was(title: str) -> None:
    (entry,) = read_bibtex([paper(title=title)])

    said = unicodedata.normalize("NFC", entry["title"]).replace("”", '"').replace("ˆ", "^")
    assert said == title


def test_a_title_keeps_its_capitals() -> None:
    assert "title = {{Faster GPUs}}" in bibtex([paper(title="Faster GPUs")])


# --- RIS


def test_ris_says_what_each_thing_is_and_where() -> None:
    items = [paper("2606.01234", title="KV cache reuse", published=JUNE, keywords=("LLM", "cache")), VLLM, post("news")]

    article, software, page = rispy.loads(ris(items))

    assert article == {
        "type_of_reference": "JOUR",
        "title": "KV cache reuse",
        "authors": ["Lovelace, Ada", "Turing, Alan"],
        "year": "2026",
        "date": "2026/06/11",
        "secondary_title": "arXiv e-prints",
        "accession_number": "arXiv:2606.01234",
        "doi": "10.48550/arXiv.2606.01234",
        "urls": ["https://arxiv.org/abs/2606.01234"],
        "abstract": "We present a method. It is fast.",
        "keywords": ["LLM", "cache"],
    }
    assert (software["type_of_reference"], software["authors"]) == ("COMP", ["vllm-project"])
    assert (page["type_of_reference"], page["urls"]) == ("BLOG", ["https://lab.example/news"])


def test_a_line_break_in_a_title_ends_no_ris_record() -> None:
    (read,) = rispy.loads(ris([paper(title="One\r\nER  - \r\nTY  - BOOK\nTI  - Two")]))

    assert read["title"] == "One ER - TY - BOOK TI - Two"


def test_a_generation_and_a_group_are_written_as_ris_wants_them() -> None:
    (read,) = rispy.loads(ris([paper(authors=("John Smith Jr.", "The Lab, Inc."))]))

    assert read["authors"] == ["Smith, John, Jr.", "The Lab Inc."]


# --- Markdown


def test_a_markdown_line_is_a_link_with_authors_and_year_and_nothing_of_the_title_acts() -> None:
    evil = "[x](https://evil.example) <b>&amp; *bold* `code` ![i](j) \\ # | ~~s~~"
    item = paper("2606.01234", title=evil, authors=tuple(f"Ada L{number}" for number in range(6)), published=JUNE)

    heading, _, _, *listed = MarkdownIt().parse(markdown([item], "Saved items"))
    inline = next(token for token in listed if token.type == "inline")
    kinds = [(child.type, child.attrs.get("href")) for child in inline.children or [] if child.type != "text_special"]
    text = "".join(child.content for child in inline.children or [])

    assert heading.tag == "h1"
    assert kinds == [("link_open", "https://arxiv.org/abs/2606.01234"), ("text", None), ("link_close", None), ("text", None)]
    assert text == f"{evil} — Ada L0, Ada L1, Ada L2, Ada L3 et al. (2026)"


# --- addresses, and what cannot be known


def test_an_address_is_made_from_the_key_and_a_script_is_none() -> None:
    assert url_of("arxiv:math/0309136") == "https://arxiv.org/abs/math/0309136"
    assert url_of("doi:10.1002/(sici)1097<x>{1}") == "https://doi.org/10.1002/(sici)1097%3Cx%3E%7B1%7D"
    assert url_of("github:owner/na.me") == "https://github.com/owner/na.me"
    assert url_of("url:https://lab.example/a b") == "https://lab.example/a%20b"
    assert url_of("url:javascript:alert(1)") == ""


hostile = st.text(st.characters(), max_size=40)


@settings(max_examples=tries(300), deadline=None)
@given(st.lists(st.builds(replace, st.just(paper()), title=hostile, authors=st.tuples(hostile, hostile)), max_size=4))
def test_whatever_a_source_wrote_the_files_hold_as_many_works(items: list[Item]) -> None:
    library = parse_string(bibtex(items))

    assert not library.failed_blocks
    assert len(library.entries) == len(items) == len(rispy.loads(ris(items)) if items else [])
    assert len({entry.key for entry in library.entries}) == len(items)
    bibtex(items).encode("utf-8")
    ris(items).encode("utf-8")


@given(hostile)
def test_latex_has_as_many_opening_as_closing_braces_at_every_point(text: str) -> None:
    depth = 0
    for char in to_latex(text):
        depth += (char == "{") - (char == "}")
        assert depth >= 0
    assert depth == 0


def test_every_kind_of_item_can_be_exported() -> None:
    for kind in Kind:
        item = replace(paper(), kind=kind)
        assert len(read_bibtex([item])) == len(rispy.loads(ris([item]))) == 1
