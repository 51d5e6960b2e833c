"""Whatever an assistant calls: nothing falls over, nothing of others is told, and a token that reads writes nothing."""

import asyncio
import logging
from collections import Counter
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from adapters.mcp.server import Asked, AssistantServer
from adapters.mcp.tools import TOOLS
from bot.models import AssistantAccess
from bot.store.sqlite.store import SqliteStore
from tests.adapters.mcp.tenants import NOBODY, OURS, READS, SECRET, THEIRS, WRITES, filled, kept
from tests.bot.handlers.askers import PAPERS, asker
from tests.fakes.digests import GPU
from tests.fakes.hostile import _PIECES

KEYS = [each.key for each in PAPERS] + [each.ranked.item.key for each in GPU.entries]
TEXTS = [
    *KEYS,
    *("gpu-systems", "kv", "KV cache", "quasar-c1", "quasar-c2", "Quasars", "trends", "saved", "here", "all"),
    *(THEIRS, OURS, f"{THEIRS}/C1", "C1", "C2", "C9", "#c9", "<#C9>", "<@U2>", "U1", "U2", "U9", "mail:00.c1", "local"),
    *("cache", "GPU OR CUDA", "topic-of:kv", "topic-of:quasar-c1", "-", '"', "(", "title:", "a AND", "cat:cs.*", "id:1"),
    *("source:arxiv", "stars:>1", "published:30d", "sort:new", "*", "cache -paging", "org:InternLM", "author:Du"),
    *("1", "2", "7", "0", "-1", "1e9", "2026-04-01", "2026-03-31", "2026-13-45", "yesterday", "last", "today"),
    *("..", "../../etc/passwd", "%2e%2e%2f", "'; drop table saved; --", "saved' or '1'='1", "\x00", "", " ", "\n"),
    *("https://arxiv.org/abs/2603.00001", "arxiv:9999.99999", "github:a/b", "a/b", "bsm_" + "0" * 48, "x" * 3_000),
    *_PIECES,
]
VALUES: list[Any] = [
    None,
    True,
    False,
    0,
    1,
    2,
    -1,
    10**30,
    10**400,
    1.5,
    1e308,
    [],
    ["kv"],
    {},
    {"a": "kv"},
    {"$ref": "#"},
]
LIKELY: dict[str, list[Any]] = {
    "item": KEYS,
    "topic": ["gpu-systems", "kv", "quasar-c1"],
    "day": ["2026-04-01", "2026-03-31"],
    "query": ["cache", "GPU OR CUDA", "title:cache"],
    "what": ["author:Du", "cache"],
    "number": [1, 1, 2],
    "after": [0, 1, 2],
}
NAMED = {
    "broadsheet://digest/{}/{}": ("topic", "day"),
    "broadsheet://paper/{}": ("item",),
    "broadsheet://{}": ("",),
    "file://{}": ("",),
    "{}": ("",),
}


def value(random: Random, name: str = "") -> Any:
    if name in LIKELY and random.random() < 0.6:
        return random.choice(LIKELY[name])
    return random.choice(VALUES) if random.random() < 0.15 else random.choice(TEXTS)


def arguments(random: Random, name: str) -> dict[str, Any]:
    options = TOOLS[name].options if name in TOOLS else ()
    known = [each.name for each in options if random.random() < (0.9 if each.required else 0.25)]
    strange = ["workspace", "channel", "person", "token", "actor", "in", "_meta", ""]
    names = known + [each for each in strange if random.random() < 0.01]
    return {each: value(random, each) for each in names}


async def called(client: Client, random: Random) -> tuple[str, str]:
    """Return what was done and everything that was told."""
    kind = random.random()
    name = random.choice([*TOOLS, *TOOLS, "subscribe", "settings", "", "../search", "SEARCH"])
    if kind < 0.85:
        result = await client.call_tool(name, arguments(random, name))
        assert result.is_error or result.structured_content is not None
        return "error" if result.is_error else name, result.model_dump_json()
    if kind < 0.95:
        address = random.choice([*NAMED])
        named = [quote(str(value(random, each)), errors="replace") for each in NAMED[address]]
        return "read", (await client.read_resource(address.format(*named))).model_dump_json()
    if kind < 0.97:
        given = {each: str(value(random)) for each in ("topic", "day") if random.random() < 0.5}
        return "prompt", (await client.get_prompt("summarise_digest", given)).model_dump_json()
    if kind < 0.985:
        return "resources", (await client.list_resources(cursor=random.choice([None, "x", THEIRS]))).model_dump_json()
    return "tools", (await client.list_tools(cursor=random.choice([None, "x", "0"]))).model_dump_json()


async def fuzzed(store: SqliteStore, access: AssistantAccess, now: datetime, calls: int, seed: int) -> Counter[str]:
    """Call so often, several at a time, and return what was done how often."""

    async def reader(_asked: Asked) -> AssistantAccess:
        return access

    context = asker(store, now).context
    server = AssistantServer(context, reader, lambda: now).server()
    done: Counter[str] = Counter()

    async def one(client: Client, random: Random, count: int) -> None:
        for _ in range(count):
            before = random.getstate()
            try:
                what, told = await called(client, random)
            except MCPError as error:
                what, told = "refused", str(error)
            except UnicodeEncodeError:  # the client itself cannot send half of a character
                what, told = "not sent", ""
            done[what] += 1
            assert SECRET not in told.lower(), (access, before[1][:3], what, told)
            assert "Traceback" not in told
            assert THEIRS not in told or what in ("error", "refused", "prompt", "search"), told

    async with Client(server) as client:
        await asyncio.gather(*(one(client, Random(f"{seed} {each}"), calls // 4) for each in range(4)))
    return done


async def tried(path: Path, now: datetime, calls: int, seed: int, caplog: pytest.LogCaptureFixture) -> None:
    store = await filled(path, now)
    shown: set[str] = set()
    try:
        for access in (READS, NOBODY, replace(READS, channel="C404", person="U404"), WRITES):
            before = await asyncio.to_thread(kept, path, but=OURS if access.may_write else "")
            with caplog.at_level(logging.ERROR):
                done = await fuzzed(store, access, now, calls // 4, seed)
            after = await asyncio.to_thread(kept, path, but=OURS if access.may_write else "")
            assert {name for name in before if before[name] != after[name]} == set(), access
            shown |= {*done}
        assert [each.getMessage() for each in caplog.records if each.levelno >= logging.ERROR] == []
        assert {*TOOLS, "read", "prompt", "resources", "tools", "error", "refused"} <= shown
        followed = await store.workspaces.subscriptions(OURS, channel="C1")
        assert len([*followed, *await store.people.saved(OURS, "U1")]) > 2, "who may write has written"
    finally:
        await store.close()


async def test_calls_of_any_kind_tell_nothing_of_others_and_write_nothing_unasked(
    tmp_path: Path, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    await tried(tmp_path / "b.sqlite3", now, 600, 1, caplog)


@pytest.mark.long
async def test_ten_thousand_calls_tell_nothing_of_others_and_write_nothing_unasked(
    tmp_path: Path, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    await tried(tmp_path / "b.sqlite3", now, 10_000, 2, caplog)


async def test_what_an_assistant_may_not_know_of_is_there(tmp_path: Path, now: datetime) -> None:
    """The words that give it away stand in the database, so that they could be told."""
    store = await filled(tmp_path / "b.sqlite3", now)
    await store.close()
    rows = await asyncio.to_thread(kept, tmp_path / "b.sqlite3")
    told = {name for name, held in rows.items() if any(SECRET in row for row in held)}
    assert {"archive", "changes", "digests", "feeds", "subscriptions", "topics"} <= told
