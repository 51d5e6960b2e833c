"""`broadsheet site build` at the terminal, beside whatever runs."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.cli.exits import Exit
from adapters.cli.main import main
from bot.app import LOCAL, App, built
from bot.settings.load import Settings
from tests.conftest import NOW
from tests.fakes.digests import GPU


async def post(app: App) -> None:
    """Post a digest in the terminal's channel, and one in another."""
    await app.store.items.add([each.ranked.item for each in GPU.entries], NOW)
    await app.store.digests.save(LOCAL, LOCAL, GPU, NOW)
    await app.store.digests.save(LOCAL, "secret", replace(GPU, topic="withheld", title="Withheld"), NOW)


def ended(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return int(caught.value.code or 0)


async def test_the_terminals_own_archive_is_written_while_a_service_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, folder = tmp_path / "broadsheet.toml", tmp_path / "site"
    file.write_text(f"database = '{tmp_path / 'b.sqlite3'}'\n[web]\nurl = 'https://papers.lab.example'\n")
    async with built(Settings(database=tmp_path / "b.sqlite3"), exclusive=True) as service:
        await post(service)
        await asyncio.to_thread(write_it, file, folder, capsys)


def write_it(file: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--config", str(file), "--now", NOW.isoformat(), "site", "build", str(folder))
    assert ended(*asked) == Exit.USAGE
    assert "settings web public" in capsys.readouterr().err
    assert not folder.exists()
    assert ended("--config", str(file), "settings", "web", "public") == Exit.OK
    capsys.readouterr()
    assert ended(*asked, "--url", "https://papers.lab.example") == Exit.OK
    said = capsys.readouterr().out
    pages, pictures = list(folder.rglob("*.html")), list(folder.rglob("*.png"))
    assert said.startswith(
        f"{len(pages)} pages, 3 feeds and {len(pictures)} pictures written to {folder}.\nLeft out: search"
    )
    text = "".join(each.read_text(errors="replace") for each in folder.rglob("*") if each.is_file())
    assert GPU.entries[0].ranked.item.title in text
    assert "withheld" not in text.lower()
    assert ended(*asked, "--url", "papers.lab.example") == Exit.USAGE
    (folder / ".broadsheet-site").unlink()
    assert ended(*asked) == Exit.USAGE
    assert "did not write" in capsys.readouterr().err
