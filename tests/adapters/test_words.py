from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from adapters.words import (
    SpanKind,
    authors,
    badges,
    brief_title,
    byline,
    card_buttons,
    card_facts,
    coverage_line,
    digest_name,
    dropped_line,
    empty_sentence,
    entry_buttons,
    entry_menu,
    facts,
    late_sentence,
    links,
    masthead,
    others_button,
    partner,
    shown_here,
    shown_so_far,
    signals,
    spans,
    summary_origin,
    title,
    warnings,
)
from bot.commands import Less, More, Show, Why, parse
from bot.digest.left_out import MOST
from bot.digest.selection import REASONS
from bot.models import (
    Coverage,
    Digest,
    Entry,
    Health,
    Item,
    Kind,
    LeftOut,
    Link,
    Ranked,
    Release,
    ScorePart,
    SourceReport,
    Summary,
)
from tests.fakes.digests import DAY, EMPTY, GPU, HOSTILE, KERNEL_SMITH, KERNEL_SMITH_CODE, RES_ADAPT, VLLM


def test_three_authors_are_named_by_their_family_names_and_the_rest_are_counted() -> None:
    assert authors(["Xiaofeng Mao", "Shaohao Rui", "Kaining Ying", "Bo Zheng"]) == "Mao, Rui, Ying +1"
    assert authors(["Ludwig van Beethoven", "Santiago Ramón y Cajal", "Ying"]) == "van Beethoven, Ramón y Cajal, Ying"
    assert authors(["Ada Lovelace", "Alan Turing"]) == "Lovelace and Turing"
    assert authors(["Tri Dao"]) == "Tri Dao"
    assert authors(["Lovelace, Ada", "The Gemma Team", "Martin Luther King Jr."]) == "Lovelace, The Gemma Team, King"
    assert authors(["Tri Dao", "Albert Gu"], 1) == "Dao +1"
    assert authors([]) == ""
    assert authors(["\x00"]) == ""


def test_a_papers_byline_says_who_where_and_when() -> None:
    assert byline(KERNEL_SMITH, DAY) == ("Du, Ge, Hu +3", "InternLM", "30 March")
    assert byline(replace(KERNEL_SMITH, published=None), DAY)[-1] == "31 March"


def test_a_repositorys_byline_does_not_repeat_its_owner() -> None:
    assert byline(VLLM, DAY) == ("Python", "Apache-2.0", "updated 1 April")
    created = replace(VLLM, updated=None, published=datetime(2023, 2, 9, tzinfo=UTC), org="vllm-project")
    assert byline(created, DAY) == ("Python", "Apache-2.0", "since 9 February 2023")


@pytest.mark.parametrize(
    ("tag", "prerelease", "told"),
    [
        ("v0.9.1", False, ("v0.9.1 (28 March)",)),
        ("v1.0rc1", True, ("v1.0rc1 (prerelease, 28 March)",)),
        ("release/2026-03-28/nightly", False, ()),
        ("v1\u202e\x1b[31m", False, ("v1 (28 March)",)),
    ],
)
def test_a_repositorys_byline_names_its_latest_release(tag: str, prerelease: bool, told: tuple[str, ...]) -> None:
    release = Release(tag=tag, published=datetime(2026, 3, 28, tzinfo=UTC), prerelease=prerelease, notes="Adds a cache.")
    assert byline(replace(VLLM, release=release), DAY) == ("Python", "Apache-2.0", *told, "updated 1 April")


def test_unknown_signals_are_left_out_and_zero_is_told() -> None:
    assert signals(VLLM) == ("★74.9k",)
    assert signals(replace(VLLM, stars=None)) == ()
    assert signals(replace(VLLM, stars=0, upvotes=2)) == ("★0", "▲2")


def test_sources_are_named_as_people_call_them() -> None:
    assert badges(replace(VLLM, sources=("arxiv", "huggingface", "github", "feed:Lab blog"))) == (
        "arXiv",
        "Hugging Face",
        "GitHub",
        "Lab blog",
    )


def test_the_page_to_read_comes_first_and_its_pdf_is_left_out() -> None:
    assert [shown for _, shown in links(KERNEL_SMITH)] == [
        "arxiv.org/abs/2603.28342",
        "github.com/InternLM/Kernel-Smith",
        "huggingface.co/papers/2603.28342",
    ]
    only_pdf = replace(
        KERNEL_SMITH, links=(Link("pdf", "https://x.example/a.pdf"), Link("unheard-of", "https://x.example/"))
    )
    assert links(only_pdf) == (("https://x.example/a.pdf", "x.example/a.pdf"),)


def test_a_link_that_stands_elsewhere_gives_its_place_to_the_next() -> None:
    many = replace(KERNEL_SMITH, links=(*KERNEL_SMITH.links, Link("page", "https://x.example/")))
    assert [shown for _, shown in links(many, without="https://github.com/internlm/kernel-smith/")] == [
        "arxiv.org/abs/2603.28342",
        "x.example",
        "huggingface.co/papers/2603.28342",
    ]


def test_no_dangerous_link_is_offered() -> None:
    assert [url for url, _ in links(HOSTILE.entries[0].ranked.item)] == ["https://xn--di-jbc.example/10.1/%C3%A4"]


def test_an_item_without_a_title_is_called_by_its_key() -> None:
    assert title(replace(VLLM, title="\x1b[2J")) == "github:vllm-project/vllm"


def test_what_a_reader_must_beware_of_is_said() -> None:
    assert warnings(replace(VLLM, archived=True, fork=True, withdrawn=True)) == ("withdrawn", "archived", "a fork")


def test_the_facts_of_an_entry_are_the_stored_ones_and_code_is_told_once() -> None:
    work = replace(KERNEL_SMITH, upvotes=23, comments=4)
    bare = replace(work, links=tuple(link for link in work.links if link.rel != "code"), upvotes=0, comments=None)
    linked = replace(bare, links=(*bare.links, Link("code", "https://github.com/lab/smith")))

    def of(item: Item, partner: Item | None = None) -> tuple[str, ...]:
        return facts(Entry(Ranked(item, 0.5), Summary((), "", ""), partner))

    assert of(work, replace(VLLM, stars=61)) == ("▲23", "💬4", "code ★61", "InternLM")
    assert of(bare) == ("InternLM",)
    assert of(linked) == ("code", "InternLM")
    assert of(linked, replace(VLLM, stars=None)) == ("code", "InternLM")
    assert of(VLLM, replace(bare, upvotes=7)) == ("▲7", "★74.9k")
    assert of(replace(linked, links=(Link("code", "javascript:alert(1)"),))) == ("InternLM",)


def test_of_a_repository_what_happened_to_it_stands_among_the_facts_and_on_its_card_once() -> None:
    risen = ScorePart("freshness", 0.1, "★ +1,412 in 3 days, created 4 days ago, ★1,500")
    entry = Entry(Ranked(VLLM, 0.5, (risen,)), Summary((), "", ""), why_here="★ +1,412 in 3 days")
    assert facts(entry) == ("★74.9k", "★ +1,412 in 3 days")
    assert "★ +1,412 in 3 days" not in card_facts(entry, DAY)
    assert facts(replace(entry, ranked=Ranked(KERNEL_SMITH, 0.5, (risen,)))) == ("▲13", "code", "InternLM")


def test_under_a_cards_title_stand_who_where_when_and_what_was_counted() -> None:
    work = replace(KERNEL_SMITH, upvotes=23)
    entry = Entry(Ranked(work, 0.5), Summary((), "", ""), replace(VLLM, stars=61))
    assert card_facts(entry, DAY) == ("Du, Ge, Hu +3", "InternLM", "30 March", "▲23", "code ★61")


def test_a_partner_is_shown_by_its_address_or_its_name() -> None:
    entry = GPU.entries[0]
    assert partner(entry) == ("Code", "", ("★3",), "https://github.com/InternLM/Kernel-Smith")
    homeless = replace(entry, partner=replace(KERNEL_SMITH_CODE, links=(), language="Python", archived=True))
    assert partner(homeless) == ("Code", "InternLM/Kernel-Smith", ("★3", "Python", "archived"), "")
    paper = replace(GPU.entries[2], partner=RES_ADAPT)
    assert partner(paper) == ("Paper", RES_ADAPT.title, ("Liao +7", "▲13"), "https://arxiv.org/abs/2603.28610")
    assert partner(GPU.entries[1]) is None


def test_a_summary_says_what_was_read_and_which_model_wrote() -> None:
    entry = GPU.entries[0]
    assert summary_origin(entry) == "from the abstract, extracted"
    noted = Entry(entry.ranked, replace(entry.summary, note="The paper is withdrawn."))
    assert summary_origin(noted) == "from the abstract, extracted; The paper is withdrawn"
    by_model = Entry(entry.ranked, replace(entry.summary, made_by="small-model"))
    assert summary_origin(by_model) == "from the abstract by small-model"
    assert summary_origin(Entry(Ranked(Item(key="k", kind=Kind.POST, title="t"), 0), Summary((), "", ""))) == ""


def counted(coverage: Coverage, **more: object) -> Digest:
    """A digest of an hour that has this coverage."""
    return replace(EMPTY, coverage=coverage, **more)  # type: ignore[arg-type]


def test_the_coverage_line_speaks_of_this_digest_in_one_line() -> None:
    assert coverage_line(GPU) == "412 seen · 3 kept · arXiv, Hugging Face · GitHub was down"
    left = LeftOut("arxiv:2606.00001", "over the cap", 4, 0.5)
    assert coverage_line(replace(GPU, carried=(left,) * 3)).startswith("412 seen, 3 carried on · 3 kept · ")
    assert coverage_line(replace(GPU, left_out=(left,) * 8)) == (
        "412 seen · 3 kept · 8 more on topic · arXiv, Hugging Face · GitHub was down"
    )


def test_what_the_pictures_of_digests_count_are_the_reasons_that_there_are() -> None:
    counted = {reason for digest in (GPU, EMPTY) for reason, _ in digest.coverage.dropped}
    assert counted - {*REASONS} == set()


def test_where_the_others_went_is_told_apart() -> None:
    assert dropped_line(GPU.coverage) == "380 outside the topic · 27 below the bar · 2 already posted"
    assert dropped_line(Coverage((), 0, 0)) == ""


def test_a_thin_day_says_that_nothing_else_came_close() -> None:
    alone = replace(GPU, cap=7, coverage=replace(GPU.coverage, dropped=(("outside the topic", 409),)))
    assert coverage_line(alone).startswith("412 seen · 3 kept · nothing else came close · arXiv")
    full, filtered = replace(alone, cap=3), replace(alone.coverage, dropped=(("filtered out", 409),))
    assert "close" not in coverage_line(full) + coverage_line(replace(alone, coverage=filtered))


def test_the_coverage_line_names_each_kind_of_trouble() -> None:
    reports = (
        SourceReport("A", Health.PARTIAL, 1),
        SourceReport("B", Health.CHANGED, 0),
        SourceReport("C", Health.NEVER, 0),
        SourceReport("D", Health.OK, 1, "no papers on Sunday, 29 March (weekend)"),
        SourceReport(
            "E", Health.DOWN, 1, "E was last asked 2 days ago; https://e.example/api", "E was last asked 2 days ago"
        ),
    )
    assert coverage_line(counted(Coverage(reports, 2, 2, span="covers 5 days"))) == (
        "2 seen · 2 kept · D · E was down · B answered in an unknown form · A delivered only a part · "
        "C has not been asked yet · E was last asked 2 days ago · covers 5 days"
    )
    assert coverage_line(counted(Coverage((), 0, 0))) == "0 seen · 0 kept"


def test_sources_with_one_trouble_are_named_together_and_a_long_row_of_them_is_cut() -> None:
    def troubles(health: Health, *names: str) -> str:
        line = coverage_line(counted(Coverage(tuple(SourceReport(name, health, 0) for name in names), 0, 0)))
        return line.rpartition(" · ")[2]

    assert troubles(Health.DOWN, "A", "B") == "A and B were down"
    assert troubles(Health.CHANGED, "A", "B", "C") == "A, B and C answered in an unknown form"
    assert troubles(Health.PARTIAL, "A", "B") == "A and B delivered only a part"
    assert troubles(Health.NEVER, "A", "B") == "A and B have not been asked yet"
    assert troubles(Health.DOWN, *"ABCDEFG") == "A, B, C, D, E and 2 more were down"
    assert troubles(Health.OK, *"ABCDEFG") == "A, B, C, D, E and 2 more"


def test_an_empty_digest_says_why_it_is_empty() -> None:
    empty = replace(EMPTY, since=EMPTY.until - timedelta(hours=24))
    assert empty_sentence(empty) == (
        "0 of 412: nothing came close to the topic today. 400 outside the topic and 12 below the bar."
    )
    weekly = replace(EMPTY, since=EMPTY.until - timedelta(days=7))
    assert empty_sentence(weekly).startswith("0 of 412: nothing came close to the topic. ")
    posted = replace(
        empty, coverage=Coverage((), 9, 0, (("outside the topic", 4), ("filtered out", 2), ("already posted", 3)))
    )
    assert empty_sentence(posted) == "0 of 9: none has a place in it today. 4 outside the topic and 3 already posted."
    assert empty_sentence(counted(Coverage((), 0, 0))) == "Nothing new: the sources had no items for this digest."


def test_a_command_between_asterisks_is_told_as_one_types_it_and_anything_else_is_stressed() -> None:
    assert spans("*saved* lists it.") == [("/digest saved", SpanKind.TYPED), (" lists it.", SpanKind.PLAIN)]
    for typed in ("topic create NAME …", "filter kv here …", "filter TOPIC test", "more 1 for kv"):
        assert spans(f"*{typed}*") == [(f"/digest {typed}", SpanKind.TYPED)]
    for clause in (
        "filter stars:>100",
        "filter -survey",
        "filter",
        "published:1y",
        "listing",
        "KV cache",
        "in Europe/Zurich",
    ):
        assert spans(f"*{clause}*") == [(clause, SpanKind.STRESSED)]


def test_an_entry_offers_what_brings_it_back_whatever_its_key_is() -> None:
    assert [(each.label, each.command) for each in entry_buttons("arxiv:2603.28342", "gpu-systems")] == [
        ("More like this", "more arxiv:2603.28342 for gpu-systems"),
        ("Less", "less arxiv:2603.28342 for gpu-systems"),
        ("Save", "save arxiv:2603.28342"),
        ("Similar", "similar arxiv:2603.28342"),
    ]
    hostile = "url:\x00 for @everyone"
    assert [parse(each.command) for each in entry_buttons(hostile, "a b")][:2] == [
        More(hostile, "a b"),
        Less(hostile, "a b"),
    ]


def test_a_digest_is_headed_by_what_it_holds_and_says_where_it_goes_on() -> None:
    twenty = replace(GPU, entries=GPU.entries[:1] * 20)

    assert digest_name(replace(GPU, title="")) == "gpu-systems"
    assert masthead(GPU) == f"3 of 412 · {GPU.minutes} min"
    assert "min" not in masthead(EMPTY)
    assert late_sentence(GPU) == "Late: this digest was due on Wednesday 1 April 2026."
    assert shown_so_far(twenty, 12) == "12 of 20 · continued below"
    assert shown_here(twenty, 13, 20) == "13–20 of 20"
    assert shown_here(twenty, 20, 20) == "20 of 20"


def test_what_else_is_on_topic_is_one_tap_away_and_nothing_is_not() -> None:
    left = (LeftOut("arxiv:1", "over the cap", 4, 0.5),) * 8
    (button,) = others_button(replace(GPU, left_out=left))

    assert (button.label, button.command) == ("8 more on topic", "rest gpu-systems on 2026-04-01")
    (button,) = others_button(replace(GPU, left_out=left, rhythm="weekly"))
    assert button.command == "rest gpu-systems weekly on 2026-04-01"
    assert others_button(GPU) == ()


def test_what_else_is_on_topic_is_counted_though_it_is_not_all_listed() -> None:
    many = replace(GPU, left_out=(LeftOut("arxiv:1", "over the cap", 4, 0.5),) * MOST, others=1204)

    assert [button.label for button in others_button(many)] == ["1,204 more on topic"]
    assert "1,204 more on topic" in coverage_line(many)


def test_a_digest_of_before_counted_no_more_on_topic_than_it_lists() -> None:
    many = replace(GPU, left_out=(LeftOut("arxiv:1", "over the cap", 4, 0.5),) * MOST)

    assert [button.label for button in others_button(many)] == ["100+ more on topic"]
    assert "100+ more on topic" in coverage_line(many)


def test_a_card_says_what_one_may_do_in_short() -> None:
    pressed = card_buttons(KERNEL_SMITH.key, "gpu-systems")

    assert [button.label for button in pressed] == ["More", "Less", "Save", "Abstract", "Why", "Similar", "BibTeX"]
    assert parse(pressed[6].command) == Show(KERNEL_SMITH.key, bibtex=True)
    assert parse(pressed[3].command) == Show(KERNEL_SMITH.key, abstract=True)
    assert parse(pressed[4].command) == Why(KERNEL_SMITH.key, "gpu-systems")
    assert parse(card_buttons(KERNEL_SMITH.key, "")[0].command) == More(KERNEL_SMITH.key, "")


def test_a_title_in_a_list_is_cut_to_a_line() -> None:
    assert brief_title(replace(KERNEL_SMITH, title=f"{'word ' * 20}")) == f"{'word ' * 12}word…"
    assert (
        brief_title(replace(KERNEL_SMITH, title=f"{'word ' * 10}word: A Study in the World of Words"))
        == f"{'word ' * 10}word: A Study…"
    )
    long = "MedOpenClaw: Auditable Medical Imaging Agents Reasoning over Uncurated Full Studies"
    assert brief_title(replace(KERNEL_SMITH, title=long)) == "MedOpenClaw: Auditable Medical Imaging Agents Reasoning…"
    assert brief_title(replace(KERNEL_SMITH, title="What this is for")) == "What this is for"


def test_the_menu_of_an_entry_begins_with_its_card() -> None:
    offered = entry_menu(KERNEL_SMITH.key, "gpu-systems")

    assert [button.label for button in offered] == ["Details", "More like this", "Less", "Save", "Similar"]
    assert parse(offered[0].command) == Show(KERNEL_SMITH.key, "gpu-systems")
