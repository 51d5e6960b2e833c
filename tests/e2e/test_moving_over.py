"""The page about many processes, done as far as its move from one file to PostgreSQL: what was there is there."""

import json
import re
import shlex

from adapters.cli.exits import Exit
from tests.e2e.desk import Desk
from tests.fakes.forked import ROOT
from tests.stores import postgres_server

SCALING = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")


async def test_a_service_moves_to_postgresql_as_the_page_tells_it(desk: Desk, postgres_address: str) -> None:
    address = postgres_server.database(postgres_address, "broadsheet_test_moving_over")
    await desk.run("collect")
    await desk.run("subscribe", "gpu-systems")
    moving = SCALING.split("## Moving over")[1].split("\n## ")[0]
    (backup,) = re.findall(r"`broadsheet (db backup \S+)`", moving)
    (copy,) = re.findall(r"^ *\$ broadsheet (db copy .*)$", moving, re.MULTILINE)
    replaced = {"~/.local/share/broadsheet/broadsheet.sqlite3": str(desk.database)}
    words = [replaced.get(word, address if "://" in word else word) for word in shlex.split(copy)]

    kept = await desk.run(*shlex.split(backup))
    assert kept.status == Exit.OK, kept.err
    copied = await desk.run(*words, "--json")
    assert copied.status == Exit.OK, copied.err
    told = json.loads(copied.out)
    assert told["differences"] == 0
    assert told["rows"] == told["written"] > 500

    there = await desk.run("list", BROADSHEET_DATABASE=address)
    assert there.status == Exit.OK, there.err
    assert there.out == (await desk.run("list")).out


async def test_an_address_of_no_postgresql_is_not_copied_to_as_if_it_were_a_file(desk: Desk) -> None:
    await desk.run("list")
    ran = await desk.run("db", "copy", str(desk.database), "mysql://ada:hunter2@127.0.0.1/papers")
    assert ran.status == Exit.SETTINGS
    assert "postgresql://" in ran.err
    assert "hunter2" not in ran.err
    assert not (desk.folder / "mysql:").exists()
