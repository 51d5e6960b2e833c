import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from adapters.cli.folder_messenger import FolderMessenger
from bot.errors import Reach, Refused
from bot.models import Delivery, Layout
from tests.conftest import NOW
from tests.fakes.digests import GPU, HOSTILE
from tests.fakes.looks import seek
from tests.fakes.transcript import delivery


async def made(messenger: FolderMessenger, number: int = 1, *, late: bool = False, **changes: object) -> Delivery:
    (payload,) = await asyncio.to_thread(messenger.render, GPU, layout=Layout.FULL, late=late)
    plain = delivery(number, now=NOW, topic="gpu-systems", workspace="local", channel="local", payload=payload)
    return replace(plain, first_try=NOW, **changes)  # type: ignore[arg-type]


def files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())}


async def test_a_digest_is_a_text_and_a_page_that_end_in_the_deliverys_name(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "digests"
    messenger = FolderMessenger(folder)
    sent = await made(messenger)

    assert await messenger.send(sent) == "2026-04-01-gpu-systems"

    written = await asyncio.to_thread(files, folder)
    assert list(written) == ["2026-04-01-gpu-systems.html", "2026-04-01-gpu-systems.txt"]
    page, text = written.values()
    assert text.endswith("\ndelivery d1p1\n")
    assert page.endswith("<!-- delivery d1p1 -->\n")
    for each in GPU.entries:
        assert each.ranked.item.title in page
    assert "Kernel-Smith" in text
    assert "Late" not in text
    assert max(map(len, text.splitlines())) <= 100
    assert "\x1b" not in text


async def test_a_topic_that_is_subscribed_anew_on_the_same_day_overwrites_nothing(tmp_path: Path) -> None:
    messenger = FolderMessenger(tmp_path)
    first, second, third = [await made(messenger, number) for number in (1, 2, 3)]

    names = await asyncio.gather(messenger.send(first), messenger.send(second))
    assert sorted(names) == ["2026-04-01-gpu-systems", "2026-04-01-gpu-systems-2"]
    assert [await messenger.send(each) for each in (second, first)] == [names[1], names[0]]
    assert await messenger.send(third) == "2026-04-01-gpu-systems-3"
    assert [await seek(messenger, each) for each in (first, second, third)] == [*names, "2026-04-01-gpu-systems-3"]
    tomorrow = replace(first, id="d9", occurrence=("s1", NOW.date() + timedelta(days=1), 0))
    assert await seek(messenger, tomorrow) == ""
    assert await messenger.send(tomorrow) == "2026-04-02-gpu-systems"


async def test_what_is_late_says_so_first(tmp_path: Path) -> None:
    messenger = FolderMessenger(tmp_path)
    await messenger.send(await made(messenger, late=True))
    written = await asyncio.to_thread(files, tmp_path)
    assert written["2026-04-01-gpu-systems.txt"].startswith("Late: ")


@pytest.mark.parametrize("topic", ["../../etc/passwd", "a/b", "", "x" * 300, "Ärger \x00"])
async def test_no_name_of_a_topic_leads_out_of_the_folder(tmp_path: Path, topic: str) -> None:
    messenger = FolderMessenger(tmp_path / "digests")
    (payload,) = await asyncio.to_thread(messenger.render, HOSTILE, layout=Layout.BRIEF, late=False)
    name = await messenger.send(await made(messenger, topic=topic, payload=payload))
    assert name.startswith("2026-04-01")
    written = await asyncio.to_thread(files, tmp_path / "digests")
    assert sorted(written) == sorted((f"{name}.html", f"{name}.txt"))


async def test_a_page_that_was_written_without_its_text_is_not_taken_for_posted(tmp_path: Path) -> None:
    messenger = FolderMessenger(tmp_path)
    sent = await made(messenger)
    await asyncio.to_thread((tmp_path / "2026-04-01-gpu-systems.html").write_text, "half <!-- delivery d1p1 -->")

    assert await seek(messenger, sent) == ""
    await messenger.send(sent)
    assert json.loads(sent.payload)["html"] in (await asyncio.to_thread(files, tmp_path))["2026-04-01-gpu-systems.html"]


async def test_a_file_in_the_way_is_a_refusal_that_names_it(tmp_path: Path) -> None:
    await asyncio.to_thread((tmp_path / "digests").write_text, "")
    messenger = FolderMessenger(tmp_path / "digests")
    with pytest.raises(Refused, match=r"The digest cannot be written to .*digests: ") as caught:
        await messenger.send(await made(messenger))
    assert caught.value.reach is Reach.WORKSPACE


async def test_what_an_owner_is_told_stands_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    messenger = FolderMessenger(tmp_path)
    await messenger.tell("local", "ada", "The digests are paused.")
    await messenger.announce("local", "alerts", "A digest was not posted.")
    assert "for ada: The digests are paused." in caplog.text
    assert "A digest was not posted." in caplog.text
