import gzip
import json
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.collect.dedupe import fold_in
from bot.errors import SourceChanged
from bot.models import Item, Kind, Link
from bot.sources.huggingface.daily_papers import read_day
from bot.sources.json_answers import read_json
from bot.sources.markup.tex import readable
from bot.sources.registry import AUTHORITY
from tests.bot.sources.mutations import mutated
from tests.conftest import tries

DAY = date(2026, 4, 1)
RECORDED = Path(__file__).parents[3] / "payloads" / "huggingface"
DAYS = sorted(RECORDED.glob("*.json.gz"))
LOST = {item.key: item for item in read_day(json.loads((RECORDED / "lost-backslashes.json").read_text("utf-8")), DAY).items}


def entry(**fields: object) -> dict[str, Any]:
    return {"paper": {"id": "2603.00001", "title": "A title", **fields}}


def read_one(**fields: object) -> Item:
    return read_day([entry(**fields)], DAY).items[0]


def test_every_field_of_a_recorded_paper_is_read() -> None:
    recorded = json.loads(gzip.decompress(DAYS[-1].read_bytes()))
    item, repo = read_day(recorded, date(2026, 4, 28)).items[:2]
    assert item.key == "arxiv:2604.22446"
    assert item.kind is Kind.PAPER
    assert item.title == "From Skills to Talent: Organising Heterogeneous Agents as a Real-World Company"
    assert item.abstract.startswith("Individual agent capabilities have advanced rapidly through modular skills")
    assert item.authors[:2] == ("Zhengxu Yu", "Yu Fu")
    assert "Talent Market" in item.keywords
    assert item.sources == ("huggingface",)
    assert item.published == datetime(2026, 4, 24, tzinfo=UTC)
    assert item.appeared == datetime(2026, 4, 28, 5, 34, 52, 58000, UTC)
    assert (item.upvotes, item.comments) == (55, 3)
    assert item.links == (
        Link("abstract", "https://arxiv.org/abs/2604.22446"),
        Link("discussion", "https://huggingface.co/papers/2604.22446"),
        Link("code", "https://github.com/1mancompany/OneManCompany"),
        Link("page", "https://1mancompany.github.io/OneManCompany"),
    )
    assert (repo.key, repo.stars, repo.paper) == ("github:1mancompany/onemancompany", 57, item.key)
    assert (repo.title, repo.authors, repo.appeared) == ("1mancompany/OneManCompany", ("1mancompany",), item.appeared)


def test_an_entry_of_2024_without_the_later_fields_is_read_alike() -> None:
    recorded = json.loads(gzip.decompress(DAYS[0].read_bytes()))
    item = read_day(recorded, date(2024, 7, 2)).items[0]
    assert item.key == "arxiv:2407.01284"
    assert item.appeared == datetime(2024, 7, 2, tzinfo=UTC)
    assert item.abstract
    assert item.upvotes is not None


def test_id_and_title_are_enough() -> None:
    item = read_one()
    assert (item.key, item.title, item.upvotes, item.published) == ("arxiv:2603.00001", "A title", None, None)
    assert item.appeared == datetime(2026, 4, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "bad",
    [
        None,
        5,
        "x",
        [],
        {},
        {"paper": None},
        {"paper": {"id": "2603.00001"}},
        {"paper": {"title": "No id"}},
        entry(id=5),
        entry(id=""),
        entry(id="hello"),
        entry(title=""),
        entry(title=" \n"),
        entry(title=None),
    ],
)
def test_an_entry_without_an_arxiv_id_or_a_title_is_skipped_and_counted(bad: object) -> None:
    day = read_day([bad, entry()], DAY)
    assert [item.key for item in day.items] == ["arxiv:2603.00001"]
    assert (day.entries, day.skipped) == (2, 1)


def test_the_title_beside_the_paper_stands_in_for_a_missing_one() -> None:
    (item,) = read_day([{"title": "Outside", "summary": "Text.", "paper": {"id": "2603.00001"}}], DAY).items
    assert (item.title, item.abstract) == ("Outside", "Text.")


def test_one_odd_entry_alone_is_no_change_of_shape_but_many_are() -> None:
    assert read_day([{}], DAY).skipped == 1
    with pytest.raises(SourceChanged, match="none of the 5 entries"):
        read_day([{}] * 5, DAY)


@pytest.mark.parametrize("odd", [None, [], {}, "text", -5, 1.5, True, 2**70, [None], [[1]], {"a": None}])
def test_no_optional_field_of_another_type_costs_the_entry(odd: object) -> None:
    names = [
        "summary",
        "authors",
        "publishedAt",
        "submittedOnDailyAt",
        "upvotes",
        "ai_keywords",
        "organization",
        "githubRepo",
    ]
    for name in (*names, "githubStars", "projectPage"):
        item = read_day([entry(**{name: odd})], DAY).items[0]
        assert item.key == "arxiv:2603.00001"
        assert item.upvotes is None
        assert all(isinstance(text, str) for text in (item.abstract, item.org, *item.authors, *item.keywords))


@pytest.mark.parametrize("odd", [None, [], "text", -5, 1.5, True, 2**70])
def test_comments_stand_beside_the_paper_and_odd_ones_are_unknown(odd: object) -> None:
    def comments(number: object) -> int | None:
        return read_day([entry() | {"numComments": number}], DAY).items[0].comments

    assert (comments(0), comments(4), comments(odd), read_one().comments) == (0, 4, None, None)


def test_lost_upvotes_and_abstracts_are_said() -> None:
    day = read_day([entry(id=f"2603.0000{n}") for n in range(6)], DAY)
    assert day.notes == ("upvotes are no longer given", "abstracts are no longer given")


def test_authors_whom_the_service_hides_are_left_out() -> None:
    item = read_one(authors=[{"name": "Ann"}, {"name": "Bob", "hidden": True}, {"name": ""}, {}, None, {"name": "Eve"}])
    assert item.authors == ("Ann", "Eve")


def test_two_authors_of_one_name_are_two() -> None:
    names = LOST["arxiv:2604.21889"].authors
    assert len(names) == 6
    assert names.count("Rui Wang") == 2


def test_the_organisation_has_its_full_name() -> None:
    assert read_one(organization={"name": "nvidia", "fullname": "NVIDIA"}).org == "NVIDIA"
    assert read_one(organization={"name": "nvidia"}).org == "nvidia"
    (item,) = read_day([entry() | {"organization": {"fullname": "Outside"}}], DAY).items
    assert item.org == "Outside"


@pytest.mark.parametrize(
    ("given", "front"),
    [
        ("bluorion-com/ZClip/", "bluorion-com/ZClip"),
        ("Alibaba-NLP/DeepResearch///", "Alibaba-NLP/DeepResearch"),
        ("\nFightingFighting/NeuroAda.git", "FightingFighting/NeuroAda"),
        ("Tencent/VITA/tree/VITA-E", "Tencent/VITA"),
        ("MYVAE/SmartSearch?tab=readme-ov-file", "MYVAE/SmartSearch"),
    ],
)
def test_a_repository_is_linked_by_its_front_page_and_joined(given: str, front: str) -> None:
    paper, repo = read_day([entry(githubRepo=f"https://github.com/{given}", githubStars=3)], DAY).items
    assert Link("code", f"https://github.com/{front}") in paper.links
    assert (repo.key, repo.title) == (f"github:{front.lower()}", front)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("https://github.com/microsoft/LMOps/tree/main/opo", ["https://github.com/microsoft/LMOps/tree/main/opo"]),
        ("https://github.com/DFIR-Metric", ["https://github.com/DFIR-Metric"]),
        ("https://gitlab.com/a/b", ["https://gitlab.com/a/b"]),
        ("https://github.com/a/b/../../c", ["https://github.com/c"]),
        ("javascript:alert(1)", []),
        ("https://user:secret@github.com/a/b", []),
        ("https://", []),
    ],
)
def test_what_is_no_repository_of_its_own_brings_no_repository(given: str, code: list[str]) -> None:
    (paper,) = read_day([entry(githubRepo=given, githubStars=3)], DAY).items
    assert [link.url for link in paper.links if link.rel == "code"] == code


@pytest.mark.parametrize(
    "page", ["javascript:alert(1)", "data:text/html,x", "//evil.example", "file:///etc/passwd", "ftp://a.b/c"]
)
def test_only_pages_of_the_web_are_linked(page: str) -> None:
    assert [link.rel for link in read_one(projectPage=page).links] == ["abstract", "discussion"]


def test_a_page_with_a_space_before_it_is_linked() -> None:
    item = read_one(projectPage=" https://homepage.jackli.org/projects/lavida/index.html")
    assert item.links[-1] == Link("page", "https://homepage.jackli.org/projects/lavida/index.html")


def test_the_code_that_only_the_abstract_names_is_linked() -> None:
    told = "It is fast. Code: https://github.com/Lab/Fast\\_Decoding{GitHub}."

    assert Link("code", "https://github.com/lab/fast_decoding") in read_one(summary=told).links
    given = read_one(summary=told, githubRepo="https://github.com/lab/own")
    assert [link.url for link in given.links if link.rel == "code"] == ["https://github.com/lab/own"]


def test_a_page_that_is_the_code_is_linked_once() -> None:
    item = read_one(projectPage="https://github.com/a/b", githubRepo="https://github.com/a/b")
    assert [link.rel for link in item.links] == ["abstract", "discussion", "code"]


def test_a_paper_and_its_repository_point_at_each_other_once_they_are_joined() -> None:
    items = read_day([entry(githubRepo="https://github.com/a/b/tree/main", githubStars=3)], DAY).items
    paper, repo = fold_in(items, {}, AUTHORITY).items
    assert (paper.repo, repo.paper) == ("github:a/b", "arxiv:2603.00001")


def test_tex_is_made_readable() -> None:
    item = read_one(title="Andr\\'e's $\\nabla$-free method", summary="It needs 50\\% of O(n^2).")
    assert (item.title, item.abstract) == ("André's ∇-free method", "It needs 50% of O(n²).")


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("A speedup of 17.9times, at sim25 FPS and sim 1050 nodes.", "A speedup of 17.9×, at ~25 FPS and ~1050 nodes."),
        (
            "It was run 4 times in sim2real, sometimes in sim 2 of 3.",
            "It was run 4 times in sim2real, sometimes in sim 2 of 3.",
        ),
    ],
)
def test_signs_beside_figures_that_have_lost_their_backslash_are_signs_again(sent: str, read: str) -> None:
    assert read_one(summary=sent).abstract == read


@pytest.mark.parametrize(
    ("key", "read"),
    [
        ("2505.22453", "(e.g., 66.3 %→72.9 % on MathVista, 62.9 %→68.7 % on We-Math)"),
        ("2511.04307", "We introduce GUI-360°, a large-scale"),
        ("2509.14008", 'the "nano" (≤2B)'),
        ("2509.14008", "a strong AR↔EN teacher to FP8 (yielding ~2× higher throughput"),
        ("2603.02398", "to (16 × 16 × 16), with 276 schemes"),
        ("2510.25889", "π_RL boosts few-shot SFT models π₀ and π_0.5 from 57.6%"),
        ("2507.12463", "human behavior—such as motion"),
        ("2510.14973", "(1) distant MASK tokens"),
        ("2505.07675", "we propose Dual-Head Optimization (DHO) – a simple"),
        ("2604.10718", "increases from ≈5% to ≈80% as"),
        ("2503.24290", "PPO with GAE (λ=1, γ=1)"),
        ("2602.05367", "stacking binary (±1) layers"),
        ("2510.21800", "at a rate of O(T^(-1/3)), which improves upon O(T^(-1/4)) rate"),
        ("2602.01983", "+20.86%↑ and +23.04%↑"),
    ],
)
def test_tex_of_recorded_abstracts_that_lost_its_backslashes_is_read(key: str, read: str) -> None:
    assert read in LOST[f"arxiv:{key}"].abstract


@pytest.mark.parametrize(
    "text",
    [
        "It was run three times, 4 times in all, and is 1.5 times faster in 2024.",
        "From sim-to-real, sim2real and sim2sim to Sim 2 in sim 2 of 3.",
        "PixArt-alpha, alpha-Flow, muP, tau-bench and a Raspberry Pi 5 with a beta version.",
        "Alpha blending, the delta of 2 runs, a pi of its own, and no left or right arrow.",
        "PM2.5 and pm10 at 3 pm, approx. 35K pairs, approx 35 of them.",
        "See https://a.org/rightarrow/pi_0 and github.com/a/theta_1-leq5.",
        "times, sim, circ, leqs and it in a text of times.",
    ],
)
def test_words_are_no_lost_tex(text: str) -> None:
    assert read_one(summary=text).abstract == text


@pytest.mark.parametrize(
    "text", ["60\\% \\rightarrow 68\\%", "about $\\sim$5 and $2\\times 2$", "the $\\pi_0$ and \\textbf{bold}"]
)
def test_tex_that_kept_its_backslashes_is_read_as_before(text: str) -> None:
    assert read_one(summary=text).abstract == readable(text)


def test_an_abstract_of_arxiv_is_preferred_to_the_same_one_that_lost_signs() -> None:
    lost = LOST["arxiv:2505.22453"]
    own = replace(lost, abstract="As arXiv has it.", sources=("arxiv",))
    for first, then in ((lost, own), (own, lost)):
        (kept,) = fold_in([first, then], {}, AUTHORITY).items
        assert kept.abstract == "As arXiv has it."
        (later,) = fold_in([lost], {kept.key: kept}, AUTHORITY).items
        assert later.abstract == "As arXiv has it."


def test_lines_are_folded_and_control_characters_dropped() -> None:
    item = read_one(title="One\n  two\x00\u202e three\ud800", summary="a\r\nb\tc")
    assert (item.title, item.abstract) == ("One two three", "a b c")
    item.title.encode()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=tries(150))
@given(st.data())
def test_no_mutation_of_a_recorded_day_breaks_the_reader(data: st.DataObject) -> None:
    recorded = json.loads(gzip.decompress(data.draw(st.sampled_from(DAYS)).read_bytes()))[:3]
    try:
        day = read_day(mutated(recorded, data), DAY)
    except SourceChanged:
        return
    assert day.skipped <= day.entries
    for item in day.items:
        assert item.title
        assert item.key.startswith(("arxiv:", "github:"))
        assert all(link.url.startswith(("http://", "https://")) for link in item.links)
        assert min(item.upvotes or 0, item.stars or 0) >= 0
        str(item).encode()


@settings(deadline=None, max_examples=tries(100))
@given(st.integers(0, 8000), st.binary(max_size=8))
def test_no_cut_or_noise_in_the_bytes_breaks_the_reader(cut: int, noise: bytes) -> None:
    body = gzip.decompress(DAYS[0].read_bytes())
    try:
        read_day(read_json(body[:cut] + noise + body[cut + 1 :], "Hugging Face"), DAY)
        read_day(read_json(body[:cut], "Hugging Face"), DAY)
    except SourceChanged as error:
        assert "Hugging Face" in str(error)  # noqa: PT017
