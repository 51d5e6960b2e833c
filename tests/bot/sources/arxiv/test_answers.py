"""What each of arXiv's services sends, read into Items."""

import contextlib
import gzip
import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime
from types import FrameType
from xml.etree.ElementTree import fromstring, tostring
from xml.sax.saxutils import escape

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.errors import SourceChanged, SourceError, SourceUnavailable
from bot.models import Item, Link
from bot.sources.arxiv import announcement_feed, oai_pmh, search_api
from bot.sources.arxiv.paper import identifier, is_withdrawn, license_name, month_of, names_of, paper
from bot.sources.arxiv.xml import root_of
from tests.bot.sources.arxiv.answers import FOLDER, feed, recorded, records, results
from tests.conftest import tries
from tests.effort import effort

PARSERS: dict[str, Callable[[bytes], object]] = {
    "the API": search_api.parse,
    "the feed": announcement_feed.parse,
    "OAI-PMH": oai_pmh.parse,
}
FORBIDDEN = re.compile("&#8;|&#x1f;|\x08")
WHOLE = {"the API": "api-one.xml", "the feed": "feed-atom.xml", "OAI-PMH": "oai-new.xml"}


# --- the API -------------------------------------------------------------------------------------------------------


def test_a_page_of_the_api_becomes_papers() -> None:
    page = search_api.parse(recorded("api-page.xml.gz"))
    assert (len(page.items), page.total, page.skipped) == (100, 214_881, 0)
    first = page.items[0]
    assert first.key == "arxiv:2202.12139"
    assert first.version == 1
    assert first.categories == ("cs.SE", "cs.LG")
    assert first.published == datetime(2022, 2, 24, 15, 5, 19, tzinfo=UTC)
    assert first.links[0] == Link("abstract", "https://arxiv.org/abs/2202.12139")
    assert Link("doi", "https://doi.org/10.1109/icstw55395.2022.00035") in first.links
    assert first.aliases == ("doi:10.1109/icstw55395.2022.00035",)  # a journal's feed knows it by this
    assert all(item.title and item.abstract and item.authors and item.categories for item in page.items)


def test_both_wire_formats_read_alike() -> None:
    old = search_api.parse(recorded("api-old-format.xml")).items[0]
    assert old.key == "arxiv:hep-ex/0307015"
    assert old.version == 1
    assert old.title == "Multi-Electron Production at High Transverse Momenta in ep Collisions at HERA"
    assert "0.30 ± 0.04" in old.abstract
    assert "\n" not in old.abstract
    assert old.published == datetime(2003, 7, 7, 17, 46, 39, tzinfo=UTC)
    new = search_api.parse(recorded("api-one.xml")).items[0]
    assert (new.key, new.categories, new.comment) == ("arxiv:1605.08386", ("math.CO", "math.ST"), "20 pages, 3 figures")


def test_old_style_identifiers_and_pinned_versions_make_keys_without_version() -> None:
    assert search_api.parse(recorded("api-old-id.xml")).items[0].key == "arxiv:astro-ph/0601001"
    pinned = search_api.parse(recorded("api-pinned-version.xml")).items[0]
    assert (pinned.key, pinned.version) == ("arxiv:quant-ph/0201082", 1)


def test_an_unknown_identifier_is_no_paper_and_no_error() -> None:
    assert search_api.parse(recorded("api-unknown-id.xml")).items == ()


def test_the_error_entry_is_an_error_that_says_why() -> None:
    with pytest.raises(SourceChanged, match="incorrect id format for abc"):
        search_api.parse(recorded("api-error.xml"))


def test_a_title_that_is_just_0_is_a_title() -> None:
    body = recorded("api-one.xml").replace(b"Heat-bath random walks with Markov bases", b"0")
    assert search_api.parse(body).items[0].title == "0"


def test_subject_classes_of_other_schemes_are_no_categories() -> None:
    other = (
        b'<category term="68T07 (Primary), 81R05" scheme="x"/><category term="I.2.7" scheme="x"/><category term="math.CO"'
    )
    body = recorded("api-one.xml").replace(b'<category term="math.CO"', other, 1)
    assert search_api.parse(body).items[0].categories == ("math.CO", "math.ST")


def test_every_awkward_record_comes_through_the_api_whole() -> None:
    with gzip.open(FOLDER / "metadata-edge-cases.jsonl.gz", "rt") as lines:
        known = [json.loads(line) for line in lines]
    for record in known:
        authors = record["authors"] if isinstance(record["authors"], list) else record["authors"].split(", ")
        entry = "".join(f"<author><name>{escape(name)}</name></author>" for name in authors)
        body = recorded("api-one.xml").decode().replace("Heat-bath random walks with Markov bases", escape(record["title"]))
        body = body.replace("20 pages, 3 figures", escape(record["comment"] or ""))
        body = body.replace("<author>\n      <name>Caprice Stanley</name>\n    </author>", entry)
        read = search_api.parse(body.encode("utf-8", "replace")).items[0]
        assert read.title
        assert len(read.authors) >= min(len([name for name in authors if name.strip()]), 5_000), record["id"]


# --- the feed ------------------------------------------------------------------------------------------------------


def test_the_atom_feed_becomes_announced_papers() -> None:
    read = announcement_feed.parse(recorded("feed-atom.xml"))
    assert (read.day, read.entries, read.skipped) == (date(2025, 8, 20), 7, 0)
    by_key = {item.key: item for item in read.items}
    item = by_key["arxiv:2508.13429"]
    assert item.authors == ("Paulo André Lima de Castro",)
    assert item.announce == "cross"
    assert item.categories == ("q-fin.CP", "cs.AI")
    assert item.license == "CC-BY-4.0"
    assert item.abstract.startswith("Autonomous trading strategies have been a subject")
    assert item.appeared == datetime(2025, 8, 20, 0, 0, tzinfo=UTC)  # 20:00 on the 19th in New York


def test_the_rss_flavour_reads_alike() -> None:
    read = announcement_feed.parse(recorded("feed-rss.xml"))
    assert (read.day, len(read.items)) == (date(2026, 4, 27), 3)
    second = read.items[1]
    assert second.key == "arxiv:2604.21936"
    assert second.announce == "new"
    assert second.version == 1
    assert second.authors[:2] == ("Lianrui Zuo", "Yihao Liu")
    assert second.categories == ("cs.AI", "cs.CV", "cs.MA")
    assert "central: adaptability, the ability" in second.abstract
    assert second.license == "http://arxiv.org/licenses/nonexclusive-distrib/1.0/"
    assert second.appeared == datetime(2026, 4, 27, 0, 0, tzinfo=UTC)


def test_a_paper_listed_twice_is_kept_once_as_what_says_most() -> None:
    read = announcement_feed.parse(feed("2026-04-01", [("2603.30001v1", "cross"), ("2603.30001v1", "new")]))
    assert [item.announce for item in read.items] == ["new"]


def test_an_older_paper_in_a_feed_is_dated_by_its_identifier() -> None:
    read = announcement_feed.parse(feed("2026-04-01", [("2401.00001v4", "replace"), ("2603.30001v1", "new")]))
    dated = {item.key: item.published for item in read.items}
    assert dated == {
        "arxiv:2401.00001": datetime(2024, 1, 1, tzinfo=UTC),
        "arxiv:2603.30001": datetime(2026, 4, 1, 0, 0, tzinfo=UTC),
    }


def test_an_empty_feed_names_the_day_it_was_made_on() -> None:
    read = announcement_feed.parse(feed("2026-04-04", []))
    assert (read.items, read.entries, read.day) == ((), 0, date(2026, 4, 4))


def test_a_bad_entry_is_skipped_and_counted() -> None:
    body = feed("2026-04-01", [("2603.30001v1", "new"), ("not-an-id", "new")])
    read = announcement_feed.parse(body)
    assert (len(read.items), read.skipped) == (1, 1)


def test_thousands_of_authors_are_read_one_by_one() -> None:
    body = feed("2026-04-01", [("2603.30001v1", "new")])
    names = ", ".join(f"Author {number}" for number in range(3_303))
    read = announcement_feed.parse(body.replace(b"Ada Lovelace, Alan Turing", names.encode()))
    assert len(read.items[0].authors) == 3_303


# --- OAI-PMH -------------------------------------------------------------------------------------------------------


def test_the_new_oai_server_is_read() -> None:
    read = oai_pmh.parse(recorded("oai-new.xml"))
    assert (len(read.items), read.token, read.deleted, read.skipped) == (3, "", 0, 0)
    first = read.items[0]
    assert first.key == "arxiv:2504.11237"
    assert first.authors == ("Chunhai Lyu", "Christoph H. Keitel", "Zoltán Harman")
    assert first.categories == ("physics.atom-ph", "physics.optics", "physics.plasm-ph", "quant-ph")
    assert first.published == datetime(2025, 4, 15, tzinfo=UTC)
    assert first.updated == datetime(2026, 1, 5, tzinfo=UTC)
    assert first.license == "CC0-1.0"
    assert "“Coulomb splittings” between" in first.abstract


@pytest.mark.parametrize(
    ("name", "count", "author"),
    [
        ("oai-old.xml", 3, "Tyler Anderson"),
        ("oai-affiliations.xml", 1, "Super-Kamiokande Collaboration"),
        ("oai-dublin-core.xml", 5, "Vilnis Liepins"),
        ("oai-bare-record.xml", 1, "B. Özel"),
    ],
)
def test_the_old_oai_formats_are_read_too(name: str, count: int, author: str) -> None:
    read = oai_pmh.parse(recorded(name))
    assert (len(read.items), read.skipped) == (count, 0)
    assert read.items[0].authors[0] == author


def test_a_resumption_token_without_cursor_is_a_token() -> None:
    assert oai_pmh.parse(recorded("oai-dublin-core.xml")).token == "6960524|1001"
    assert oai_pmh.parse(records([("2603.30001", "2026-03-30")], "abc")).token == "abc"


def test_no_match_is_an_empty_list() -> None:
    assert oai_pmh.parse(records([], error="noRecordsMatch")).items == ()


def test_an_expired_token_and_other_refusals_are_told_apart() -> None:
    with pytest.raises(oai_pmh.TokenExpired):
        oai_pmh.parse(records([], error="badResumptionToken"))
    with pytest.raises(SourceChanged, match="badArgument"):
        oai_pmh.parse(records([], error="badArgument"))


def test_a_deleted_record_is_counted_not_read() -> None:
    body = records([("2603.30001", "2026-03-30"), ("2603.30002", "2026-03-30")])
    body = body.replace(b"<header>", b'<header status="deleted">', 1)
    read = oai_pmh.parse(body)
    assert (len(read.items), read.deleted, read.skipped) == (1, 1, 0)


def test_sets_follow_the_new_hierarchy() -> None:
    assert oai_pmh.sets_of(["cs.AI", "hep-th", "astro-ph.GA", "math.NA", "physics.plasm-ph", "q-bio.NC"]) == (
        "cs:cs:AI",
        "physics:hep-th",
        "physics:astro-ph:GA",
        "math:math:NA",
        "physics:physics:plasm-ph",
        "q-bio:q-bio:NC",
    )
    assert oai_pmh.sets_of(["cs.AI", "cs.CL", "cs.CV", "cs.LG", "stat.ML"]) == ("cs", "stat:stat:ML")


# --- what must not hurt --------------------------------------------------------------------------------------------

BOMB = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><feed>&b;</feed>'


@pytest.mark.parametrize("who", PARSERS)
@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", SourceUnavailable),
        (b"  \n", SourceUnavailable),
        (b"Rate exceeded.", SourceChanged),
        (b"<!DOCTYPE html><html><body>Down for maintenance</body></html>", SourceChanged),
        (b"<html><head></head></html>", SourceChanged),
        (b'{"error": "no"}', SourceChanged),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), SourceChanged),
        (BOMB, SourceChanged),
        (BOMB.decode().encode("utf-16"), SourceChanged),
        (b"<?xml version='1.0'?><other/>", SourceChanged),
        (b"<feed xmlns='http://www.w3.org/2005/Atom'><entry></feed>", SourceChanged),
        (b"x" * 10_000_000, SourceChanged),
        (b"<a>" * 200_000, SourceUnavailable),
        (b"<a " + b" ".join(b'a%d="1"' % n for n in range(32_000)) + b"/>", SourceChanged),
    ],
    ids=lambda value: repr(value[:24]) if isinstance(value, bytes) else "",
)
def test_what_is_no_answer_is_a_source_error_at_once(who: str, body: bytes, error: type[SourceError]) -> None:
    def read(text: bytes, told: type[SourceError]) -> None:
        with pytest.raises(told):
            PARSERS[who](text)

    plain = b"<other>" + b"<a>b</a>" * 75_000 + b"</other>"
    # The deepest takes about fifty times as much; what grew with the square would take thousands.
    assert effort(lambda: read(body, error), tries=1) < 400 * effort(lambda: read(plain, SourceChanged), tries=1)


@pytest.mark.parametrize("who", PARSERS)
def test_an_answer_that_was_cut_off_is_worth_asking_for_again(who: str) -> None:
    whole = recorded(WHOLE[who])
    for share in (0.3, 0.6, 0.95):
        with pytest.raises(SourceUnavailable, match="cut off"):
            PARSERS[who](whole[: int(len(whole) * share)])


@pytest.mark.parametrize("who", PARSERS)
def test_control_characters_that_xml_forbids_do_not_cost_the_answer(who: str) -> None:
    title = {"the API": b"Heat-bath", "the feed": b"ALIGN: Word", "OAI-PMH": b"Periodic table"}[who]
    PARSERS[who](recorded(WHOLE[who]).replace(title, b"Bad\x0b&#x1;" + title))


@settings(max_examples=tries(150), deadline=None)
@given(
    who=st.sampled_from(sorted(PARSERS)),
    cuts=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 40), st.binary(max_size=12)), min_size=1, max_size=5),
)
def test_damaged_answers_give_papers_or_a_source_error(who: str, cuts: list[tuple[float, int, bytes]]) -> None:
    body = recorded(WHOLE[who])
    for where, length, put in cuts:
        at = int(where * len(body))
        body = body[:at] + put + body[at + length :]
    with contextlib.suppress(SourceError):
        PARSERS[who](body)


# --- a paper's parts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("http://arxiv.org/abs/1605.08386v1", ("1605.08386", 1)),
        ("https://arxiv.org/abs/astro-ph/0601001v12", ("astro-ph/0601001", 12)),
        ("oai:arXiv.org:2508.13426v3", ("2508.13426", 3)),
        ("oai:arXiv.org:math/0306266", ("math/0306266", 0)),
        ("2606.01234", ("2606.01234", 0)),
        ("arXiv:2606.01234v2", ("2606.01234", 2)),
        ("https://arxiv.org/api/errors#incorrect_id_format_for_abc", None),
        ("", None),
        ("v1", None),
    ],
)
def test_identifiers_are_read_with_their_version(text: str, found: tuple[str, int] | None) -> None:
    assert identifier(text) == found


@pytest.mark.parametrize(
    ("comment", "abstract"),
    [
        ("This paper has been withdrawn due to a conflict with a journal policy. arXiv admin note: text overlap", ""),
        ("This paper is withdrawn due to copyright issues", ""),
        ("Withdrawn due to publication", ""),
        ("Withdrawn by the authors", ""),
        ("The submission has been temporarily withdrawn", ""),
        ("My advisor did not allow me to upload this paper. I have to withdraw it", ""),
        ("", "This paper has been withdrawn by the author, due a critical mistake on page 3."),
        ("", "This submission has been withdrawn by arXiv admins because there was an erroneous author"),
    ],
)
def test_a_withdrawal_is_read_from_comment_or_abstract(comment: str, abstract: str) -> None:
    assert is_withdrawn(comment, abstract)


@pytest.mark.parametrize(
    ("comment", "abstract"),
    [
        ("20 pages, 3 figures", "We study the withdrawal of liquidity."),
        ("", "These laws grant users the right to withdraw their data; papers withdrawn from arXiv are our data set."),
        ("Withdrawn from the ICML proceedings in favour of a journal version", ""),
        ("accepted", "Utilizing papers withdrawn from arXiv, we validated our proposal."),
    ],
)
def test_withdrawal_as_a_subject_is_no_withdrawal(comment: str, abstract: str) -> None:
    assert not is_withdrawn(comment, abstract)


def test_repositories_in_abstract_and_comment_are_linked() -> None:
    found = item(abstract=r"Code: \href{https://github.com/Some-Lab/a\_b}{here}.", comment="see github.com/x/y.git")
    assert found.links[2:] == (Link("code", "https://github.com/some-lab/a_b"), Link("code", "https://github.com/x/y"))


def test_authors_are_split_at_commas_but_not_from_their_suffix_or_place() -> None:
    assert names_of("A. Gould (Ohio State, USA (OSU)), Martin King, Jr., and B. Gaudi") == (
        "A. Gould",
        "Martin King Jr.",
        "B. Gaudi",
    )
    assert names_of("Unclosed (Bracket, Second") == ("Unclosed (Bracket", "Second")
    assert names_of("") == ()


def test_brackets_that_never_close_take_not_much_longer_than_names() -> None:
    names = "Ada Lovelace, " * 30_000
    assert effort(lambda: names_of("(" * 400_000)) < 240 * effort(lambda: names_of(names[:400_000]))


def test_licences_get_their_spdx_name_where_they_have_one() -> None:
    assert license_name("http://creativecommons.org/licenses/by-nc-sa/4.0/") == "CC-BY-NC-SA-4.0"
    assert license_name("https://creativecommons.org/licenses/by/3.0/") == "CC-BY-3.0"
    assert license_name("http://creativecommons.org/publicdomain/zero/1.0/") == "CC0-1.0"
    assert license_name("http://arxiv.org/licenses/nonexclusive-distrib/1.0/").startswith("http://arxiv.org/")
    assert license_name("javascript:alert(1)") == ""


def test_an_identifier_tells_its_month() -> None:
    assert month_of("2606.01234") == datetime(2026, 6, 1, tzinfo=UTC)
    assert month_of("astro-ph/9901001") == datetime(1999, 1, 1, tzinfo=UTC)
    assert month_of("math/0306266") == datetime(2003, 6, 1, tzinfo=UTC)


def test_texts_are_bounded() -> None:
    long = item(title="t" * 5_000, abstract="a" * 100_000, comment="c" * 9_000)
    assert (len(long.title), len(long.abstract), len(long.comment)) == (1_000, 20_000, 2_000)


def test_an_answer_of_the_api_made_by_hand_reads_like_a_recorded_one() -> None:
    made = search_api.parse(results([("2603.30001", "2026-03-30T10:00:00Z")]))
    assert made.items[0].published == datetime(2026, 3, 30, 10, tzinfo=UTC)


def item(title: str = "T", abstract: str = "", comment: str = "") -> Item:
    return paper("2606.01234", title=title, abstract=abstract, authors=(), categories=(), comment=comment)


# --- long answers --------------------------------------------------------------------------------------------------


@given(
    st.lists(
        st.sampled_from(["&#8;", "&#x1f;", "\x08", "&amp;", "é", "<a>x</a>", "word " * 5_000, "y" * 65_500]), max_size=40
    )
)
@settings(max_examples=tries(50))
def test_a_long_answer_is_read_in_pieces_as_it_is_whole(parts: list[str]) -> None:
    text = "".join(parts)
    whole = fromstring(f"<r>{FORBIDDEN.sub('', text)}</r>")
    assert tostring(root_of(f"<r>{text}</r>".encode(), "X")) == tostring(whole)


@given(st.integers(0, 400_000), st.sampled_from(["<!DOCTYPE a>", "<!entity a>"]))
@settings(max_examples=tries(50))
def test_a_declaration_is_found_wherever_it_stands(before: int, declaration: str) -> None:
    with pytest.raises(SourceChanged, match="document type"):
        root_of(b"<r>" + b" " * before + declaration.encode() + b"</r>", "X")


def test_other_threads_may_run_between_the_pieces_of_a_long_answer() -> None:
    calls = Counter[str]()

    def count(frame: FrameType, event: str, arg: object) -> None:
        calls[getattr(arg, "__name__", "")] += event == "c_call"

    sys.setprofile(count)
    try:
        root_of(b"<r>" + b"<a/>" * 500_000 + b"</r>", "X")
    finally:
        sys.setprofile(None)
    assert calls["feed"] >= 30
    assert calls["search"] >= 30
