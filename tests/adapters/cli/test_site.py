"""`broadsheet site build` at the terminal, beside whatever runs."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.cli.exits import Exit
from adapters.cli.main import main
from bot.app import LOCAL, built
from bot.models import Change, Preferences
from bot.settings.load import Settings
from tests.conftest import NOW
from tests.fakes.digests import GPU


async def post(database: Path) -> None:
    """Post a digest in the terminal's channel, which everybody may read, and one in another."""
    async with built(Settings(database=database)) as app:
        await app.store.items.add([each.ranked.item for each in GPU.entries], NOW)
        await app.store.digests.save(LOCAL, LOCAL, GPU, NOW)
        await app.store.digests.save(LOCAL, "secret", replace(GPU, topic="withheld", title="Withheld"), NOW)
        line = Change(workspace=LOCAL, at=NOW, person="me", what="settings web")
        await app.store.workspaces.save_preferences(LOCAL, Preferences(public=(LOCAL,)), line)


def ended(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return int(caught.value.code or 0)


def test_the_terminals_own_archive_is_written_while_a_service_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, folder = tmp_path / "broadsheet.toml", tmp_path / "site"
    file.write_text(f"database = '{tmp_path / 'b.sqlite3'}'\n")
    asked = ("--config", str(file), "--now", NOW.isoformat(), "site", "build", str(folder))
    assert ended(*asked) == Exit.USAGE
    assert "settings web public" in capsys.readouterr().err
    assert not folder.exists()
    asyncio.run(post(tmp_path / "b.sqlite3"))

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
