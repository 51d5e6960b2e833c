"""Answers to render: a page of a search, a confirmation, and one that strangers wrote."""

from bot.models import Attachment, Button, Field, Reply, ReplyEntry
from tests.fakes.digests import GPU, HOSTILE, KERNEL_SMITH, VLLM

FOUND = Reply(
    title="Search: gpu kernel",
    text=("In the last 90 days, the newest first; add *published:* for more.",),
    entries=(
        ReplyEntry(KERNEL_SMITH, lines=("matches *GPU kernel* ×2",), buttons=(Button("Save", "save 2603.28342"),)),
        ReplyEntry(VLLM),
    ),
    first=11,
    next_steps=("*similar 12* shows what is close to one of them.",),
    buttons=(Button("Later", 'search page=k3x.2 "gpu kernel" -survey'), Button("Best match", "search gpu kernel sort:best")),
)
SUBSCRIBED = Reply(
    title="Subscribed to GPU systems",
    text=("What fits will be posted in this channel on weekdays at 09:00 (Europe/Zurich).",),
    fields=(Field("When", "on weekdays at 09:00 (Europe/Zurich)"), Field("Filter", "*-survey stars:>100*" + " or so" * 20)),
    digests=(GPU,),
    compact=True,
    buttons=(Button("Unsubscribe", "unsubscribe gpu-systems", danger=True),),
    private=False,
)
_EVIL = "[red]\x1b[31mx\x1b]8;;http://evil\x07\u202egnp.exe *a* @everyone <!channel> \x00`$(rm)`"
UGLY = Reply(
    title=_EVIL,
    text=(_EVIL, ""),
    entries=(ReplyEntry(title=_EVIL, lines=(_EVIL,)), ReplyEntry(HOSTILE.entries[0].ranked.item)),
    fields=(Field(_EVIL, _EVIL),),
    digests=(HOSTILE,),
    attachment=Attachment("x.bib", "text/plain", _EVIL),
    next_steps=(_EVIL,),
    buttons=(Button(_EVIL, f"search {_EVIL}"), Button("", "")),
)
