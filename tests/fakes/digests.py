"""Digests as the core makes them, from real papers and repositories of 31 March 2026; and one made of hostile text."""

from dataclasses import replace
from datetime import UTC, date, datetime

from bot.digest.card import entry
from bot.models import (
    PARTS,
    Coverage,
    Digest,
    Entry,
    Health,
    Item,
    Kind,
    Link,
    Ranked,
    ScorePart,
    SourceReport,
    Summary,
    SummaryPart,
)

DAY = date(2026, 4, 1)
SINCE = datetime(2026, 3, 31, 7, tzinfo=UTC)
UNTIL = datetime(2026, 4, 1, 7, tzinfo=UTC)


def _at(month: int, day: int, hour: int = 0) -> datetime:
    return datetime(2026, month, day, hour, tzinfo=UTC)


KERNEL_SMITH = Item(
    key="arxiv:2603.28342",
    kind=Kind.PAPER,
    title="Kernel-Smith: A Unified Recipe for Evolutionary Kernel Optimization",
    abstract="We present Kernel-Smith, a framework for high-performance GPU kernel and operator generation.",
    authors=("He Du", "Qiming Ge", "Jiakai Hu", "Aijun Yang", "Zheng Cai", "Zixian Huang"),
    org="InternLM",
    categories=("cs.CL", "cs.LG"),
    keywords=("GPU kernel generation", "Triton"),
    sources=("arxiv", "huggingface"),
    links=(
        Link("abstract", "https://arxiv.org/abs/2603.28342"),
        Link("pdf", "https://arxiv.org/pdf/2603.28342"),
        Link("discussion", "https://huggingface.co/papers/2603.28342"),
        Link("code", "https://github.com/InternLM/Kernel-Smith"),
    ),
    published=_at(3, 30, 12),
    appeared=_at(3, 31, 0),
    seen=_at(3, 31, 7),
    announce="new",
    version=1,
    upvotes=13,
    repo="github:internlm/kernel-smith",
)
KERNEL_SMITH_CODE = Item(
    key="github:internlm/kernel-smith",
    kind=Kind.REPO,
    title="InternLM/Kernel-Smith",
    authors=("InternLM",),
    sources=("huggingface",),
    links=(Link("code", "https://github.com/InternLM/Kernel-Smith"),),
    stars=3,
    paper="arxiv:2603.28342",
)
RES_ADAPT = Item(
    key="arxiv:2603.28610",
    kind=Kind.PAPER,
    title="ResAdapt: Adaptive Resolution for Efficient Multimodal Reasoning",
    authors=("Huanxuan Liao", "Zhongtao Jiang", "Yupu Hao", "Yuqiao Tan", "Shizhu He", "Jun Zhao", "Kun Xu", "Kang Liu"),
    categories=("cs.CV", "cs.AI", "cs.CL"),
    sources=("arxiv", "huggingface"),
    links=(
        Link("abstract", "https://arxiv.org/abs/2603.28610"),
        Link("code", "https://github.com/Xnhyacinth/ResAdapt"),
        Link("discussion", "https://huggingface.co/papers/2603.28610"),
    ),
    published=_at(3, 30),
    upvotes=13,
)
VLLM = Item(
    key="github:vllm-project/vllm",
    kind=Kind.REPO,
    title="vllm-project/vllm",
    abstract="A high-throughput and memory-efficient inference and serving engine for LLMs",
    authors=("vllm-project",),
    language="Python",
    license="Apache-2.0",
    sources=("github",),
    links=(Link("code", "https://github.com/vllm-project/vllm"),),
    updated=_at(4, 1, 3),
    stars=74868,
    forks=15018,
)


def _summary(texts: tuple[str, str, str, str], read: str = "abstract", missing: tuple[str, ...] = ()) -> Summary:
    parts = (SummaryPart(name, text, name not in missing) for name, text in zip(PARTS, texts, strict=True))
    return Summary(tuple(parts), read=read, made_by="extractive")


def _entries() -> tuple[Entry, ...]:
    smith = _summary(
        (
            "",
            (
                "We present Kernel-Smith, a framework for high-performance GPU kernel and operator generation that combines "
                "a stable evaluation-driven evolutionary agent with an evolution-oriented post-training recipe."
            ),
            (
                "Kernel-Smith-235B-RL achieves state-of-the-art overall performance on KernelBench with Nvidia Triton "
                "backend, attaining the best average speedup ratio."
            ),
            "The same workflow produces upstream contributions to production systems including SGLang and LMDeploy.",
        ),
        missing=("Problem",),
    )
    adapt = _summary(
        (
            (
                "Multimodal Large Language Models achieve stronger visual understanding by scaling input fidelity, yet the "
                "resulting visual token growth makes jointly sustaining high spatial resolution and long temporal context "
                "prohibitive."
            ),
            (
                "ResAdapt couples a lightweight Allocator with an unchanged MLLM backbone, so the backbone retains its "
                "native visual-token interface while receiving an operator-transformed input."
            ),
            "ResAdapt supports up to 16x more frames at the same visual budget while delivering over 15% performance gain.",
            (
                "We argue that the bottleneck lies not in how post-encoding representations are compressed but in the "
                "volume of pixels the encoder receives."
            ),
        )
    )
    vllm = _summary(
        (
            "",
            "A high-throughput and memory-efficient inference and serving engine for LLMs.",
            "74,868 stars and 15,018 forks on 1 April 2026.",
            "Written in Python under Apache-2.0.",
        ),
        read="description",
        missing=("Problem",),
    )
    return (
        entry(
            Ranked(
                KERNEL_SMITH,
                0.78,
                (
                    ScorePart("phrases", 0.52, "matches *GPU kernel* ×2, *Triton*, *SGLang*"),
                    ScorePart("community", 0.14, "13 upvotes on Hugging Face"),
                    ScorePart("freshness", 0.12, "new today"),
                ),
            ),
            smith,
            KERNEL_SMITH_CODE,
        ),
        entry(
            Ranked(
                RES_ADAPT, 0.41, (ScorePart("phrases", 0.3, "matches *inference cost*"), ScorePart("community", 0.11, ""))
            ),
            adapt,
        ),
        entry(Ranked(VLLM, 0.38, (ScorePart("community", 0.38, "412 stars in 3 days"),)), vllm),
    )


GPU = Digest(
    topic="gpu-systems",
    title="GPU systems",
    day=DAY,
    since=SINCE,
    until=UNTIL,
    entries=_entries(),
    coverage=Coverage(
        sources=(
            SourceReport("arXiv", Health.OK, 374),
            SourceReport("Hugging Face", Health.OK, 22),
            SourceReport("GitHub", Health.DOWN, 16),
        ),
        seen=412,
        kept=3,
        dropped=(("outside the topic", 380), ("below the bar", 27), ("near twins", 0), ("already posted", 2)),
        notes=("Caught up 2 days.",),
    ),
)
EMPTY = Digest(
    topic="databases",
    title="Databases",
    day=DAY,
    since=SINCE,
    until=UNTIL,
    entries=(),
    coverage=Coverage(
        sources=(
            SourceReport("arXiv", Health.QUIET, 374, "arXiv announces nothing on Saturday and Sunday"),
            SourceReport("Hugging Face", Health.CHANGED, 38),
        ),
        seen=412,
        kept=0,
        dropped=(("outside the topic", 400), ("below the bar", 12)),
    ),
)

_EVIL = (
    "\x1b[31m[bold]red[/bold]\x1b]8;;https://evil.example\x07 <script>alert(1)</script> "
    "\u202eexe.cod\u2066 &amp; \x00@everyone \x1b]0;x"
)
_EVIL_PARTS = _summary((_EVIL, "</style><img src=x onerror=alert(1)>", "[/]", "word " * 3 + "x" * 300))
HOSTILE = replace(
    GPU,
    topic="[red]x[/red]",
    title=_EVIL,
    entries=(
        Entry(
            Ranked(
                replace(
                    RES_ADAPT,
                    title=_EVIL + " 多模态大型语言模型的自适应分辨率 👩‍👩‍👧 z" + "\u0301" * 40,
                    authors=("Ægir \x1b[2JÞór", "[link=https://evil.example]x[/link]", "\ud800"),
                    org="<b>org</b>",
                    sources=("feed:[red]lab[/red]",),
                    links=(
                        Link("abstract", "javascript:alert(1)"),
                        Link("code", "https://arxiv.org@evil.example/"),
                        Link("page", "https://ok.example/\x1b]8;;"),
                        Link("discussion", 'https://ok.example/a"onmouseover="x'),
                        Link("pdf", "https://ok.example/pfad/über?q=<b>"),
                        Link("doi", "https://dοi.example/10.1/ä"),
                    ),
                ),
                0.5,
                (ScorePart("phrases", 0.5, "matches *" + _EVIL + "*"),),
            ),
            _EVIL_PARTS,
            replace(KERNEL_SMITH_CODE, title=_EVIL, language=_EVIL, links=(Link("code", "data:text/html,x"),)),
            gist=_EVIL,
            card=_EVIL_PARTS.parts,
            why_here=_EVIL,
        ),
    ),
    coverage=replace(GPU.coverage, notes=(_EVIL,), sources=(SourceReport(_EVIL, Health.DOWN, 0, _EVIL),)),
)
