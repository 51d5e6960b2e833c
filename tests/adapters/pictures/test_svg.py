import re
from dataclasses import replace
from datetime import date, timedelta
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.pictures.svg import INLINE, LIGHT, WIDTH, svg
from bot.models import Chart, ChartKind, ChartValue
from tests.conftest import tries
from tests.fakes.replies import CURVE, TRENDS, UGLY

CHARTS = (*TRENDS.charts, CURVE)
KNOWN = {f"{{http://www.w3.org/2000/svg}}{name}" for name in ("svg", "text", "rect", "path", "circle")}
ALLOWED = {
    *("viewBox", "role", "aria-label", "font-family", "x", "y", "width", "height", "fill", "font-size", "text-anchor", "d"),
    *("stroke", "stroke-width", "stroke-linejoin", "cx", "cy", "r"),
}
EVIL = '</text><script>alert(1)</script>"\' onload=x &amp; <!ENTITY x "y"> ]]> \x00\ud83d\ufffe\u202e'


def parsed(chart: Chart) -> list[ElementTree.Element]:
    return [each for palette in (INLINE, LIGHT) for each in ElementTree.fromstring(svg(chart, palette)).iter()]


def texts(chart: Chart) -> list[str]:
    return [each.text or "" for each in ElementTree.fromstring(svg(chart)) if each.tag.endswith("text")]


def some_charts(said: st.SearchStrategy[str]) -> st.SearchStrategy[Chart]:
    days = st.dates(date(1990, 1, 1), date(2100, 1, 1))
    numbers = st.floats(0, 1e12, allow_nan=False)
    values = st.builds(ChartValue, said, numbers, said, st.none() | numbers, days, st.booleans())
    return st.builds(
        Chart,
        name=st.just("x"),
        kind=st.sampled_from(ChartKind),
        title=said,
        values=st.lists(values, min_size=1, max_size=14).map(
            lambda some: tuple(sorted(some, key=lambda each: each.day or date.min))
        ),
        source=said,
        alt=said,
    )


@settings(deadline=None, max_examples=tries(150))
@given(some_charts(st.text(max_size=120) | st.just(EVIL)))
@example(replace(UGLY.charts[0], title=EVIL, alt=EVIL))
def test_whatever_strangers_wrote_it_is_well_formed_and_nothing_in_it_is_live(chart: Chart) -> None:
    for each in parsed(chart):
        assert each.tag in KNOWN
        assert set(each.attrib) <= ALLOWED
        assert "url(" not in "".join(value for name, value in each.attrib.items() if name != "aria-label")
        assert not re.search(r"nan|inf", " ".join(each.attrib.get(name, "") for name in ("x", "y", "d", "width", "height")))


@pytest.mark.parametrize("chart", CHARTS, ids=lambda chart: chart.kind)
def test_a_picture_says_its_source_and_what_it_shows(chart: Chart) -> None:
    assert " ".join(texts(chart)).endswith(chart.source)
    assert parsed(chart)[0].attrib["aria-label"] == chart.alt
    assert parsed(chart)[0].attrib["role"] == "img"


def test_every_number_of_the_months_stands_in_the_picture() -> None:
    said = texts(TRENDS.charts[0])

    assert [each for each in said if each in ("31", "44", "60", "12", "37", "51", "58")] == [
        *("31", "44", "60", "12", "37", "44", "51", "58")
    ]
    assert said.count("2025") == said.count("2026") == 1


def test_nothing_is_drawn_outside_and_a_long_label_is_cut() -> None:
    value = replace(TRENDS.charts[1].values[0], label="an endless phrase of very many words " * 3)

    told = texts(replace(TRENDS.charts[1], values=(value,)))

    assert any(each.startswith("an endless") and each.endswith("…") for each in told)
    for chart in CHARTS:
        for each in parsed(chart):
            if each.tag.endswith("rect") and "viewBox" not in each.attrib and float(each.attrib["x"]) >= 0:
                assert float(each.attrib["x"]) + float(each.attrib["width"]) <= WIDTH + 0.11


def test_a_month_that_is_not_over_is_lighter() -> None:
    boxes = [each.attrib["fill"] for each in parsed(TRENDS.charts[0]) if each.tag.endswith("rect")]

    assert boxes.count(LIGHT.light) == 1
    assert boxes.count(LIGHT.accent) == 7


def test_a_curve_of_one_day_and_of_no_change_can_be_drawn() -> None:
    day = date(2026, 3, 1)
    for values in (
        (ChartValue("a", 0, "0", day=day),),
        tuple(ChartValue("a", 5, "5", day=day + timedelta(at)) for at in (0, 9)),
    ):
        for kind in ChartKind:
            assert parsed(replace(CURVE, kind=kind, values=values))


@pytest.mark.parametrize("words", [7, 11, 17, 40])
def test_a_long_sentence_is_in_as_few_lines_as_take_it_and_none_ends_in_a_lone_word(words: int) -> None:
    chart = replace(TRENDS.charts[0], title="", source=" ".join(["seven"] * words))
    lines = [each for each in texts(chart) if "seven" in each]
    assert " ".join(lines).split() == ["seven"] * words
    assert len(lines) == -(-words // 10), "ten of them are as wide as the picture"
    assert len({each.count("seven") for each in lines}) <= 2
    assert lines[-1].count("seven") >= lines[0].count("seven") - 2
