"""Answers to render: a page of a search, a confirmation, and one that strangers wrote."""

from dataclasses import replace
from datetime import date, timedelta

from bot.handlers.trends.charts import MonthCount, Sides, Subject, terms_chart, volume_chart
from bot.handlers.wording.replies import title_buttons
from bot.models import Attachment, Button, Chart, ChartKind, ChartValue, Field, Layout, Reply, ReplyEntry
from bot.rank.trends import RisingTerm
from tests.fakes.digests import GPU, HOSTILE, KERNEL_SMITH, VLLM

FOUND = Reply(
    title="Search: gpu kernel",
    text=("In the last 90 days, the newest first; add *published:* for more.",),
    entries=(
        ReplyEntry(
            KERNEL_SMITH,
            gist="Presents Kernel-Smith, a framework for high-performance GPU kernel and operator generation.",
            lines=("matches *GPU kernel* ×2",),
            buttons=(Button("Save", "save 2603.28342"),),
        ),
        ReplyEntry(VLLM),
    ),
    first=11,
    next_steps=("*similar 12* shows what is close to one of them.",),
    buttons=(Button("Later", 'search page=k3x.2 "gpu kernel" -survey'), Button("Best match", "search gpu kernel sort:best")),
)
STARRED = Reply(title="Starred", entries=(ReplyEntry(KERNEL_SMITH, gist="Sorts *in place*, by [rank](https://x.example)"),))

# What people saved in a channel: one that was posted, one whose address nobody should follow, one that is not kept.
READING = Reply(
    title="3 items saved in this channel",
    entries=(
        ReplyEntry(KERNEL_SMITH, lines=("2 saved, the last on Wednesday 1 April",), post="https://chat.example/p1"),
        ReplyEntry(KERNEL_SMITH, lines=("1 saved, on Wednesday 1 April",), post="javascript:alert(1)"),
        ReplyEntry(title="arxiv:2603.00001", post="https://chat.example/p3"),
    ),
)
_HOSTILE = HOSTILE.entries[0].ranked.item

# The rest of a digest: the longest list of titles, of which one item is not kept any more and one is hostile.
TITLES = Reply(
    title="15 more on topic for GPU systems",
    text=("What the digest of Wednesday 1 April has no place for, the best first.",),
    entries=(
        ReplyEntry(title="arxiv:2603.00001", title_only=True),
        ReplyEntry(_HOSTILE, title_only=True, buttons=title_buttons(_HOSTILE, "gpu-systems")),
        *(
            ReplyEntry(
                replace(KERNEL_SMITH, key=f"arxiv:2603.{number:05}"),
                title_only=True,
                buttons=title_buttons(replace(KERNEL_SMITH, key=f"arxiv:2603.{number:05}"), "gpu-systems"),
            )
            for number in range(2, 15)
        ),
    ),
    first=8,
    next_steps=("*more 8 for gpu-systems* and *save 8 for gpu-systems* take these numbers.",),
    buttons=(Button("Next", "rest gpu-systems page 2"),),
)


# One item's card, with all that may be done with it.
CARD = Reply(
    title="Details",
    cards=GPU.entries[:1],
    buttons=(
        Button("More like this", "more arxiv:2603.28342 for gpu-systems"),
        Button("Less", "less arxiv:2603.28342 for gpu-systems"),
        Button("Save", "save arxiv:2603.28342"),
        Button("Abstract", "show abstract arxiv:2603.28342"),
        Button("Why", "why arxiv:2603.28342 for gpu-systems"),
        Button("Similar", "similar arxiv:2603.28342"),
        Button("BibTeX", "show bibtex arxiv:2603.28342"),
    ),
)


_MARKED = "We show *that* @everyone <!channel> `rm` [x](https://evil.example) & <b>1 < 2</b>."
ABSTRACT = Reply(
    title="Kernel-Smith",
    text=("Abstract",),
    quoted=(_MARKED, " ".join(f"Sentence {n} measures the kernels." for n in range(38))),
    buttons=(Button("Next", "show abstract page 2 arxiv:2603.28342"), Button("Card", "show arxiv:2603.28342")),
)


def page(entries: int, buttons: int) -> Reply:
    """A page of a list: titles, sentences and reasons as long as they are on average and somewhat more, two links each."""
    item = replace(KERNEL_SMITH, title="A title of ordinary length " * 3, links=KERNEL_SMITH.links[:3])
    below = tuple(Button("More like this", f"more arxiv:2603.{number:05}") for number in range(buttons))
    entry = ReplyEntry(
        item, gist="Presents a framework of parts. " * 6, lines=('abstract has "kernel"; ' * 3,), buttons=below
    )
    return replace(FOUND, entries=(entry,) * entries, buttons=FOUND.buttons * 2)


SUBSCRIBED = Reply(
    title="Subscribed to GPU systems",
    text=("What fits will be posted in this channel on weekdays at 09:00 (Europe/Zurich).",),
    fields=(Field("When", "on weekdays at 09:00 (Europe/Zurich)"), Field("Filter", "*-survey stars:>100*" + " or so" * 20)),
    digests=(GPU,),
    layout=Layout.BRIEF,
    buttons=(Button("Unsubscribe", "unsubscribe gpu-systems", danger=True),),
    private=False,
)
# How a topic went: a year of months, what rose, and a curve of stars.
_MONTHS = ((9, 31, 900), (10, 44, 1_204), (11, 60, 2_012), (12, 12, 402))
TRENDS = Reply(
    title="Trends in GPU systems",
    charts=(
        volume_chart(
            Subject("GPU systems", "gpu-systems"),
            [
                *(MonthCount(date(2025, month, 1), items, of) for month, items, of in _MONTHS),
                *(MonthCount(date(2026, month, 1), 30 + 7 * month, 1_500) for month in range(1, 5)),
            ],
            ("arXiv", "Hugging Face"),
            date(2026, 4, 1),
        ),
        terms_chart(
            Subject("GPU systems", "gpu-systems"),
            [
                RisingTerm("speculative decoding", 41, 12, 3.1),
                RisingTerm("KV cache", 25, 3, 2.9),
                RisingTerm("TPUs", 9, 0, 2.0),
            ],
            Sides(402, 5_919, timedelta(weeks=4), timedelta(weeks=24), 402, 2_000),
            ("arXiv", "Hugging Face"),
        ),
    ),
    buttons=(Button("Everything", "trends"), Button("Trending", "trending")),
)
CURVE = Chart(
    name="stars",
    kind=ChartKind.LINE,
    title="Stars of vllm-project/vllm",
    values=tuple(
        ChartValue(f"{at} March 2026", 60_000 + 37 * at * at, f"{60_000 + 37 * at * at:,} stars", day=date(2026, 3, at))
        for at in range(1, 31)
        if at % 7
    ),
    source="GitHub's count, read on 26 days, 1 March 2026 to 30 March 2026",
    alt="A curve of stars: from 60,037 on 1 March 2026 to 93,300 on 30 March 2026.",
)
_EVIL = "[red]\x1b[31mx\x1b]8;;http://evil\x07\u202egnp.exe *a* @everyone <!channel> \x00`$(rm)`"
_UGLY_VALUES = (ChartValue(_EVIL, 1.0, _EVIL, 0.5, date(2026, 3, 1)), ChartValue(_EVIL, 2.0, _EVIL, 0.5, date(2026, 4, 1)))
UGLY = Reply(
    title=_EVIL,
    text=(_EVIL, ""),
    entries=(ReplyEntry(title=_EVIL, gist=_EVIL, lines=(_EVIL,)), ReplyEntry(HOSTILE.entries[0].ranked.item)),
    fields=(Field(_EVIL, _EVIL),),
    charts=tuple(
        Chart(name="x", kind=kind, title=_EVIL, values=_UGLY_VALUES, source=_EVIL, alt=_EVIL) for kind in ChartKind
    ),
    cards=HOSTILE.entries,
    digests=(HOSTILE,),
    layout=Layout.FULL,
    attachment=Attachment("x.bib", "text/plain", _EVIL),
    next_steps=(_EVIL,),
    buttons=(Button(_EVIL, f"search {_EVIL}"), Button("", "")),
)
