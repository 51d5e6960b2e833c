"""TeX to readable text: what arXiv's authors typed, and what a reader of a digest must see."""

import gzip
import json
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.sources.markup.tex import TOO_LONG, readable
from tests.conftest import tries
from tests.effort import effort

EDGE_CASES = Path(__file__).parents[3] / "payloads" / "arxiv" / "metadata-edge-cases.jsonl.gz"


def edge_cases() -> list[dict[str, object]]:
    with gzip.open(EDGE_CASES, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        (r"Andr\'e", "André"),
        ("up to 1{,}890x of 2{,}260 pages", "up to 1,890x of 2,260 pages"),
        (r"M{\"o}ssbauer", "Mössbauer"),
        (r"na\"{\i}ve T\"UV", "naïve TÜV"),
        (r"\v{S}koda \c{C}elik \k{a} \H{o} \u{g} \.Z \r{a}", "Škoda Çelik ą ő ğ Ż å"),
        (r"Sk\l odowska, \L{}\'od\'z, \O stergaard", "Skłodowska, Łódź, Østergaard"),
        (r"Stra\ss{}e \AA{}ngstr\"om \ae{} \o", "Straße Ångström æ ø"),
        (r"Tom\' as Feder", "Tomás Feder"),
        (r"Mah\={a}n\={a}ma Do\~nana C\^ote", "Mahānāma Doñana Côte"),
        (r"les repr\'{e}sentations g\'{e}n\'{e}tiques", "les représentations génétiques"),
    ],
)
def test_accents_become_letters(typed: str, read: str) -> None:
    assert readable(typed) == read


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        (r"$\alpha$ and $\nabla$NABLA", "α and ∇NABLA"),
        ("$10^{-3}$ and $10^-3$ and $10^21$", "10⁻³ and 10⁻³ and 10²¹"),
        ("$O(n^2)$", "O(n²)"),
        (r"$\mathcal{O}(n\log n)$", "O(n log n)"),
        (r"A Survey of LLM $\times$ DATA", "A Survey of LLM × DATA"),
        (r"$\sim$30 and \sim 5", "~30 and ~ 5"),
        ("H$_2$O and PM$_{2.5}$ and mAP$_{50:95}$", "H₂O and PM2.5 and mAP50:95"),
        (r"UI2Code$^\text{N}$", "UI2Codeᴺ"),
        (r"360$^\circ$ and 5.7{\deg}reduction", "360° and 5.7°reduction"),
        (r"$\bf{D^3}$QE", "D³QE"),
        (r"$L_\infty$ and $\ell_1$", "L_∞ and ℓ₁"),
        (r"$\mathbb{F}_2 \times (\mathbb{F}_2+v\mathbb{F}_2)$", "F₂ × (F₂+vF₂)"),
        (r"$\mathbb{R}^d$", "ℝᵈ"),
        (r"$\tau^+ \to h^- \pi^0 \nu_\tau$", "τ⁺ → h⁻ π⁰ ν_τ"),
        (r"$\frac{a+b}{2}$ and $\sqrt{n+1}$ and $\sqrt{n}$", "(a+b)/2 and √(n+1) and √n"),
        (r"$\binom{n}{k}$", "binom(n, k)"),
        (r"$p<0.001$ and $p\leq 5\%$ and $\leq5$", "p<0.001 and p ≤ 5% and ≤5"),
        (r"$>$350B and $<$5%", ">350B and <5%"),
        (r"$x\in X$ and $\hat{x}$", "x ∈ X and x̂"),
        (r"$4.98\ \mu\text{g}/\text{m}^3$", "4.98 μg/m³"),
        (r"$1^{+1.39}_{-0.59}$", "1^(+1.39)_(-0.59)"),
        (r"$\unicode{x2013}$ \(x^2\) $$E=mc^2$$", "– x² E=mc²"),
        (r"$\texttt{$\textbf{Flora}$}$, builds", "Flora, builds"),
        (r"up to $\textbf{28.5%$\rightarrow$71.4%}$ in", "up to 28.5% → 71.4% in"),
        (r"$R_{max}$ and $x_{i+1}$", "R_max and xᵢ₊₁"),
        ("L_2 Norm, V_{0.5}, 7 * 10^21 W/cm2", "L₂ Norm, V_0.5, 7 * 10²¹ W/cm2"),
    ],
)
def test_formulas_become_one_line_of_unicode(typed: str, read: str) -> None:
    assert readable(typed) == read


@pytest.mark.parametrize(
    "text",
    [
        "costs $5 and $10",
        "US$100 (A$150), from $5–$10, $1.5M vs $2M",
        "64% better than GPT-4o",
        "an unbalanced { and a lonely $ and a closing }",
        "snake_case, file_2, a_b_c, π_RL",
        "S*: scaling, *-PLUIE, IDA*",
        "run it with --help or -v",
        "<SEG> as prompt, BP<n> cohomology, a < b > c, <1 GB",
        "about ~30% (~5) and 4~6 bits at /~gould",
        "{0, 1} and {action, state}",
        ":telephone::person: @user #1 AT&T",
        "P=NP",
        "0",
        "",
    ],
)
def test_what_is_not_tex_stays_as_it_was_typed(text: str) -> None:
    assert readable(text) == text


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        (r"\textbf{U}nified \emph{in-context} \texttt{<SEG>}", "Unified in-context <SEG>"),
        (r"{\bf bold} and {KV}-cache", "bold and KV-cache"),
        (r"``Chain'' and `Perfect' English", "“Chain” and ‘Perfect’ English"),
        (r"3--5 -- no --- yes", "3–5 – no — yes"),
        (r"5\% of R\&D, Q\&A\_1 \#1 \$OneMillion", "5% of R&D, Q&A_1 #1 $OneMillion"),
        (r"Dr.~RTL, Fig.~3", "Dr. RTL, Fig. 3"),
        (r"(\eg, one; \ie two)", "(e.g., one; i.e. two)"),
        (r"\method{} is \ours, see \name\ both, \name\xspace is", "method is ours, see name both, name is"),
        (r"\revise{The context} \textcolor{red}{now} \ac{LLM}", "The context now LLM"),
        (r"at \href{https://a.org/b_c}{https://a.org/b_c}.", "at https://a.org/b_c."),
        (r"at \href{https://a.org}{this page}", "at this page (https://a.org)"),
        ("our https://github.com/a/B_c{GitHub}.", "our https://github.com/a/B_c (GitHub)."),  # as Daily Papers gives it
        ("at https://a.org/x/{https://a.org/x/.}", "at https://a.org/x/"),
        ("at https://a.org/x {a, b}", "at https://a.org/x {a, b}"),
        (r"\url{https://github.com/bytedance/SALMONN/}.", "https://github.com/bytedance/SALMONN/."),
        (r"this field\footnote{https://a.org}.", "this field (https://a.org)."),
        (r"benchmark~\cite{yang2022}. As \citet{Nevins2015} says", "benchmark. As [Nevins2015] says"),
        (r"(\r{ho} = 0.34), \b{eta}-VAE, \k{appa}, \c{opyright} 2024", "(ρ = 0.34), β-VAE, κ, © 2024"),
        (r"delimiters like \"\n\n\" and model\'s", 'delimiters like "\\n\\n" and model\'s'),
        (r"Group mAP\@1.0, i.i.d.\@ data, Bird\u2019s", "Group mAP@1.0, i.i.d. data, Bird’s"),
        (r"\ding{182} A \ding{51}", "❶ A ✓"),
    ],
)
def test_macros_are_unwrapped_and_unknown_ones_stay_readable(typed: str, read: str) -> None:
    assert readable(typed) == read


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("Old arXiv lines\n  are wrapped\nhard.\n", "Old arXiv lines are wrapped hard."),
        ("view.<br>I - <b>Bold</b> <a href='x'>link</a> H<sub>2</sub>O", "view. I - Bold link H₂O"),
        ("R&amp;D &ndash; &#39;x&#39; &lt;SEG&gt;", "R&D – 'x' <SEG>"),
        ("bell\x07 null\x00 turned\u202e back\u202c zero\u200bwidth \ufeffBOM", "bell null turned back zerowidth BOM"),
        ("e\u0301 is one letter", "é is one letter"),
    ],
)
def test_html_wraps_and_invisible_characters_go(typed: str, read: str) -> None:
    assert readable(typed) == read


def test_every_known_awkward_record_keeps_its_words() -> None:
    word = re.compile(r"(?<![\\A-Za-z{&<])[A-Za-z]{5,}(?![A-Za-z}>;])")
    for record in edge_cases():
        for typed in (str(record["title"]), str(record["abstract"]), str(record["comment"] or "")):
            read = readable(typed)
            assert "\n" not in read
            assert not any(unicodedata.category(character) == "Cc" for character in read)
            source = re.sub(r"\w*(?:\{?\\[^A-Za-z]\s*\{?\w*\}?)+\w*", " ", unicodedata.normalize("NFC", typed))
            source = re.sub(r"\\[a-z]+\s*\{[^{}]*\}|<[^>]*>|[{}$]", " ", source)
            missing = [found for found in word.findall(source) if found not in read]
            assert not missing, (record["id"], missing)


PLAIN = st.text(st.characters(categories=("L", "N", "P", "S", "Zs"), exclude_characters="\\${}~`^_<>&-'\xad"), max_size=300)


@given(PLAIN)
def test_plain_text_changes_in_white_space_only_and_only_once(text: str) -> None:
    once = readable(text)
    assert once == " ".join(unicodedata.normalize("NFC", text).split())
    assert readable(once) == once


TEX = st.lists(
    st.one_of(
        st.sampled_from(list("\\${}[]()^_~`'\"-%&#<>| \n")),
        st.sampled_from(
            [r"\frac", r"\sqrt[", r"\textbf{", r"\(", r"\)", r"\[", r"\begin{array}", r"\end", r"\left", r"\href{", r"\'"]
        ),
        st.sampled_from(
            [r"\overset", r"\hat", r"\mathcal", r"\unicode{x", r"\ding{", r"\verb|", r"\u12", r"\footnote", "word", "5", "é"]
        ),
        st.text(max_size=3),
    ),
    max_size=40,
).map("".join)


@settings(max_examples=tries(400), deadline=None)
@given(TEX)
@example(r"$\frac[\overset$")  # a macro that stands for an argument has none of its own
def test_no_input_raises_and_the_answer_is_one_clean_line(text: str) -> None:
    read = readable(text)
    assert read == " ".join(read.split())
    assert not re.search("[\x00-\x1f\x7f\u202a-\u202e]", read)


@pytest.mark.parametrize(
    "text",
    [
        "{" * TOO_LONG,
        "$" * TOO_LONG,
        "\\(" * (TOO_LONG // 2),
        r"\textbf{" * (TOO_LONG // 8),
        "$" + "{" * 400 + "}" * 400 + "$",
        r"$\frac{" * 5_000,
        r"\'" * (TOO_LONG // 2),
        "`" * TOO_LONG,
        "-" * TOO_LONG,
        "x^{" * 15_000,
        "<b>" * 15_000,
        "\\" * TOO_LONG,
        "a" * 10_000_000 + "$x$",
    ],
    ids=lambda text: f"{text[:8]!r}…",
)
def test_pathological_text_takes_bounded_work(text: str) -> None:
    plain = (r"We use $O(n^2)$ attention and \emph{caches} of \"order 10\% each. " * 1000)[:TOO_LONG]
    assert effort(lambda: readable(text), tries=1) < 1000 * effort(lambda: readable(plain))


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        pytest.param(
            "we propose **MA-RAG** (**M**ulti-Round **A**gentic RAG), which extends the *self-consistency* principle",
            "we propose MA-RAG (Multi-Round Agentic RAG), which extends the self-consistency principle",
            id="2603.03292",
        ),
        pytest.param("*The code will be made public soon.*", "The code will be made public soon.", id="2505.12580"),
        pytest.param(
            "CFG-Zero*, an improved CFG, hence the * in it", "CFG-Zero*, an improved CFG, hence the * in it", id="2503.18886"
        ),
        pytest.param(
            "10**4/10**5 times, (3*128*128) and T2*-weighted", "10**4/10**5 times, (3*128*128) and T2*-weighted", id="powers"
        ),
        pytest.param(
            "the issue of ''underthinking'', where models", "the issue of “underthinking”, where models", id="2510.19767"
        ),
        pytest.param(
            r"In this work, we introduce \textsc{\modelname}, a multi-agent debate framework",
            "In this work, we introduce our model, a multi-agent debate framework",
            id="2510.05611",
        ),
        pytest.param(
            r"in any environment. \modelname overcomes", "in any environment. Our model overcomes", id="2507.23773"
        ),
        pytest.param(
            "integrates Low-Rank Adapta- tion (LoRA). Con- ventional FT, the lim- itations, consistently outper- forms",
            "integrates Low-Rank Adaptation (LoRA). Conventional FT, the limitations, consistently outperforms",
            id="2509.18942",
        ),
        pytest.param(
            "low- and high-level, hip- hop, a model- while",
            "low- and high-level, hip- hop, a model- while",
            id="no line ends",
        ),
    ],
)
def test_what_a_machine_left_in_a_text_goes_and_what_the_authors_meant_stays(typed: str, read: str) -> None:
    assert readable(typed) == read
