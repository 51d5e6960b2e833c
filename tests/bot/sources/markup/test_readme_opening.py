import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.sources.github.repositories import read_readme
from bot.sources.markup.readme_opening import OPENING, opening, own_paper, without_shortcodes
from tests.bot.sources.replay import recorded
from tests.conftest import tries
from tests.effort import effort

TYPICAL = """\
---
title: FlashThing
---
<!-- a comment
over lines -->
<p align="center">
  <img src="logo.png" width="200">
  <a href="https://x.org"><b>Website</b></a>
</p>

# FlashThing :rocket:

[![arXiv](https://img.shields.io/badge/arXiv-2603.01234-b31b1b)](https://arxiv.org/abs/2603.01234v2)
[![License][lic]][lic-url] ![stars](https://img.shields.io/github/stars/a/b)

[English](README.md) | [简体中文](README_zh.md)

## Table of Contents

- [Features](#features)
- [Install](#install)

**FlashThing** is a *fast* `attention` kernel for [AMD](https://amd.com) &amp; NVIDIA GPUs :zap:.
It is 2x faster than snake_case_baseline.

> [!NOTE]
> Only tested on MI300X.

## Installation

Run this:

```bash
pip install flashthing
```

## Features

It does:

- Paged KV cache ([paper](https://arxiv.org/abs/2309.06180))
- [x] FP8 on *all* cards

| model | tokens/s |
|---|---|
| a | 5 |

[lic]: https://img.shields.io/x
[lic-url]: https://x.org
"""


def test_a_typical_opening_has_its_prose_and_nothing_else() -> None:
    assert opening(TYPICAL) == (
        "FlashThing is a fast attention kernel for AMD & NVIDIA GPUs. It is 2x faster than snake_case_baseline.\n\n"
        "Only tested on MI300X.\n\n"
        "It does:\n\n- Paged KV cache (paper)\n- FP8 on all cards"
    )


def test_a_restructured_text_opens_with_its_prose() -> None:
    text = """\
=======
 Widget
=======

.. image:: https://img.shields.io/x.svg
   :target: https://x.org

Widget is a `library <https://x.org>`_ for :ref:`many` things, see docs_.

.. code-block:: python

   import widget

Installation
------------

pip install widget please
"""
    assert opening(text) == "Widget is a library for many things, see docs."


def test_plain_text_stays_as_it_is() -> None:
    assert opening("A tool for a*b and c*d.\r\n\r\nSecond  paragraph.") == "A tool for a*b and c*d.\n\nSecond paragraph."


@pytest.mark.parametrize(
    "text", ["", "\n\n", "# Title", "![x](y)", "```\ncode here\n```", "<img src=x>", "\0", "---", "| a | b |"]
)
def test_a_readme_without_prose_has_no_opening(text: str) -> None:
    assert opening(text) == ""


def test_an_unclosed_fence_or_comment_hides_the_rest() -> None:
    assert opening("Some words.\n\n```\nrm -rf everything") == "Some words."
    assert opening("Some words.\n\n<!-- hidden words") == "Some words."


def test_a_longer_fence_is_not_closed_by_a_shorter() -> None:
    assert (
        opening("Before the code.\n\n````\n```\nnot text here\n```\n````\n\nAfter the code.")
        == "Before the code.\n\nAfter the code."
    )


def test_chapters_on_how_to_install_or_cite_are_left_out_and_a_title_never_is() -> None:
    text = "# Build tools\n\nFirst words.\n\n## 2. Installation guide\n\nDo this now.\n\n"
    text += "## Building blocks of attention in detail\n\nLast words."
    assert opening(text) == "First words.\n\nLast words."


def test_a_long_opening_is_cut_at_a_sentence() -> None:
    text = opening("This is one sentence of some length. " * 100)
    assert OPENING * 2 / 3 < len(text) <= OPENING
    assert text.endswith("length.")


def test_a_long_opening_without_sentences_is_cut_at_a_word() -> None:
    text = opening("word " * 1000)
    assert len(text) <= OPENING
    assert text.endswith("word…")
    assert len(opening("x" * 5000 + " y")) <= OPENING


def test_cjk_text_is_cut_at_its_own_full_stop() -> None:
    assert opening("这是一个用于大模型推理的高性能引擎。" * 200 + " 好 的吧").endswith("。")


def test_a_recorded_file_is_decoded_and_read() -> None:
    text = read_readme(recorded("file")[0].json())
    assert "GNU" in text
    assert 0 < len(opening(text)) <= OPENING


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        {},
        {"content": "QUJD"},
        {"encoding": "none", "content": ""},
        {"encoding": "base64", "content": None},
        {"encoding": "base64", "content": "é"},
        {"encoding": "base64", "content": "A"},
    ],
)
def test_an_answer_without_a_file_is_an_empty_readme(answer: object) -> None:
    assert read_readme(answer) == ""


def test_bytes_that_are_no_utf8_are_read_as_well_as_can_be() -> None:
    content = base64.b64encode("Größe zählt".encode("latin-1")).decode()
    assert read_readme({"encoding": "base64", "content": content}).startswith("Gr")


def test_the_paper_is_the_only_one_at_the_top() -> None:
    assert own_paper(TYPICAL) is None
    assert own_paper(TYPICAL.replace("https://arxiv.org/abs/2309.06180", "x")) == "2603.01234"
    assert own_paper("no paper") is None
    assert own_paper("x" * 5000 + "arxiv.org/abs/2603.01234") is None


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (":rocket: Go", "Go"),
        ("10:30:45", "10:30:45"),
        ("std::vector::size", "std::vector::size"),
        ("ok :+1:", "ok"),
        ("a: b: c", "a: b: c"),
    ],
)
def test_emoji_spelt_in_letters_are_dropped(text: str, left: str) -> None:
    assert without_shortcodes(text) == left


BITS = [
    "[",
    "![",
    "![[",
    "<",
    "<a ",
    "</",
    "`",
    "``",
    "*",
    "*a ",
    "_a",
    "__a ",
    "[a](",
    "[a](b(",
    "[a][",
    "\\",
    ":a",
    "|",
    "> ",
]
LINES = [
    "| a | b |",
    "- a",
    "# a",
    "```",
    "<!--",
    "<table>",
    "---",
    ".. a",
    ".. a\n\n",
    "`a <b",
    "",
    "a\n===",
    "&",
    "https://",
    "\ud800",
]


@pytest.mark.parametrize("bit", [*BITS, *(line + "\n" for line in LINES)])
def test_no_input_takes_much_longer_than_a_typical_one_of_its_length(bit: str) -> None:
    hostile, typical = (each * (200_000 // len(each)) for each in (bit, TYPICAL))
    assert len(opening(hostile)) <= OPENING
    assert effort(lambda: opening(hostile)) < 320 * effort(lambda: opening(typical))


PIECES = st.sampled_from(
    [*TYPICAL.split("\n"), *"[]()<>`*_#|!\\:-~=&;\n ", "```", "https://x.org", "<table>", "</p>", "中文", "\r\n"]
)


@settings(deadline=None, max_examples=tries(200))
@given(st.lists(st.one_of(PIECES, st.text(max_size=5)), max_size=60))
def test_any_text_has_an_opening_without_markup_that_hides_things(pieces: list[str]) -> None:
    text = opening("".join(pieces))
    assert len(text) <= OPENING
    assert text == text.strip()
    assert "<!--" not in text
    assert all(line == " ".join(line.split()) for line in text.split("\n"))
