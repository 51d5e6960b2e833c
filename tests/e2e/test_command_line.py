"""The command as a person runs it: a process of its own, settings in a file, sources behind real sockets."""

import asyncio
import base64
import json
import os
import re
import signal
import sqlite3

import pytest

from adapters.cli.exits import Exit
from tests.e2e.desk import Desk
from tests.fakes import smtp
from tests.fakes.patience import PATIENCE

ENDPOINT = {"MODEL": "m", "DIMENSIONS": "3", "BASE_URL": "http://127.0.0.1:9"}  # nobody listens there


async def test_a_first_day_from_collecting_to_a_digest_and_a_search(desk: Desk) -> None:
    collected = await desk.run("collect")
    assert collected.status == Exit.OK, collected.err
    assert [line.split(":")[0] for line in collected.out.splitlines()] == ["arXiv", "Hugging Face", "GitHub"]

    digest = await desk.run("digest", "gpu-systems", "--html", "page.html")
    assert digest.status == Exit.OK
    assert "more on topic" in digest.out
    assert " seen · " in digest.out
    assert max(map(len, digest.out.splitlines())) <= 80
    assert "<article" in (desk.folder / "page.html").read_text()

    found = json.loads((await desk.run("search", "language models", "cat:cs.CL", "--json")).out)
    items = [entry["item"] for entry in found["entries"]]
    assert len(items) == 5
    assert all("cs.CL" in item["categories"] for item in items)
    assert all(3 <= len(entry["gist"].split()) <= 40 for entry in found["entries"])

    (later,) = (button["command"] for button in found["buttons"] if button["label"] == "Next 5")
    second = json.loads((await desk.run("ask", later, "--json")).out)
    assert [entry["number"] for entry in second["entries"]] == [6, 7, 8, 9, 10]
    assert not {item["key"] for item in items} & {entry["item"]["key"] for entry in second["entries"]}


async def test_a_link_to_the_archive_stands_on_one_line_where_there_are_pages(desk: Desk) -> None:
    without = await desk.run("web")
    assert without.status == Exit.USAGE
    assert "the setting web.url" in without.err
    told = await desk.run("web", BROADSHEET_WEB__URL="https://papers.lab.example")
    assert told.status == Exit.OK
    (link,) = (line.strip() for line in told.out.splitlines() if "/open/" in line)
    said = base64.urlsafe_b64decode(link.removeprefix("https://papers.lab.example/open/").partition(".")[0] + "==")
    assert json.loads(said)[:2] == ["local", "local"]
    assert len(link.rpartition(".")[2]) == 22  # whole, with its signature


async def test_what_one_asks_in_a_chat_is_answered_in_the_terminal(desk: Desk) -> None:
    await desk.run("collect")

    subscribed = await desk.run("subscribe", "gpu-systems", "weekdays", "at", "9", "in", "Zürich", "top", "3")
    assert "on weekdays at 09:00 (Europe/Zurich)" in subscribed.out
    assert "The best of the last 2 days: post now?" in subscribed.out
    assert "Post now: broadsheet post gpu-systems" in subscribed.out
    assert "GPU systems is posted now" in (await desk.run("post", "gpu-systems")).out
    assert "GPU systems was asked for today already" in (await desk.run("post", "gpu-systems")).out
    digest = json.loads((await desk.run("digest", "--json")).out)["digests"][0]
    assert (digest["topic"], len(digest["entries"])) == ("gpu-systems", 3)

    key = digest["entries"][0]["item"]["key"]
    assert (await desk.run("save", key)).status == Exit.OK
    bibliography = await desk.run("saved", "bibtex")
    assert bibliography.out.startswith("@")
    assert bibliography.out.rstrip().endswith("}")
    assert "gpu-systems" in (await desk.run("list")).out
    assert (await desk.run("ask", "unsubscribe gpu-systems")).status == Exit.OK
    assert json.loads((await desk.run("list", "--json")).out)["entries"] == []


async def test_a_link_in_a_commands_place_is_answered_with_the_card(desk: Desk) -> None:
    await desk.run("collect", "huggingface")
    listed = json.loads((await desk.run("search", "the", "--json")).out)
    item = listed["entries"][0]["item"]

    shown = await desk.run(f"arxiv.org/pdf/{item['key'].removeprefix('arxiv:')}v1", "--json")

    assert json.loads(shown.out)["cards"][0]["item"]["title"] == item["title"]
    assert "No such command" in (await desk.run("digset")).err


async def test_what_cannot_be_read_is_answered_with_how_it_goes(desk: Desk) -> None:
    ran = await desk.run("subscribe", "gpu-systems", "at", "25:00")

    assert ran.status == Exit.USAGE
    assert "How it goes: broadsheet help subscribe" in ran.err
    assert "Usage:" not in ran.err


async def test_a_recorded_digest_is_not_repeated_and_a_preview_changes_nothing(desk: Desk) -> None:
    await desk.run("collect")

    async def keys(*options: str) -> set[str]:
        ran = await desk.run("digest", "gpu-systems", "--json", *options)
        return {entry["item"]["key"] for entry in json.loads(ran.out)["digests"][0]["entries"]}

    preview = await keys()
    assert preview
    assert await keys("--record") == preview
    assert not await keys("--days", "3") & preview


async def test_a_number_in_the_terminal_is_of_the_topic_that_is_named_and_one_of_two_digests_is_asked_about(
    desk: Desk,
) -> None:
    await desk.run("collect")
    ran = await desk.run("digest", "gpu-systems", "llm-agents", "--entries", "2", "--record", "--json")
    first, second = json.loads(ran.out)["digests"]

    async def saved(*words: str) -> str:
        (entry,) = json.loads((await desk.run("save", *words, "--json")).out)["entries"]
        return str(entry["item"]["key"])

    for digest in (first, second):
        keys = [entry["item"]["key"] for entry in digest["entries"]]
        assert [await saved(str(number), "for", digest["topic"]) for number in (1, 2)] == keys
        rest = json.loads((await desk.run("rest", digest["topic"], "--json")).out)["entries"]
        assert [entry["item"]["key"] for entry in rest] == [each["key"] for each in digest["left_out"]][:15]
        assert await saved("3", "for", digest["topic"]) == digest["left_out"][0]["key"]
    asked = await desk.run("more", "1")
    assert asked.status == Exit.USAGE
    assert "Several digests here have a number 1" in asked.err
    assert first["entries"][0]["item"]["title"] in asked.err


async def test_a_source_that_is_down_is_named_and_the_others_items_are_stored(desk: Desk) -> None:
    desk.settle(github="http://127.0.0.1:9")  # nothing listens on the discard port

    ran = await desk.run("collect", "--json")

    assert ran.status == Exit.SOURCE
    health = {each["source"]: each["health"] for each in json.loads(ran.out)}
    assert (health["github"], health["huggingface"]) == ("down", "ok")

    digest = await desk.run("digest", "gpu-systems", COLUMNS="200")
    assert "GitHub" in digest.out
    assert "down" in digest.out
    resting = await desk.run("collect", "github")
    assert "resting until" in resting.out
    assert resting.status == Exit.SOURCE  # it still has not delivered


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (["digest", "gpu-system"], Exit.USAGE, "Did you mean gpu-systems?"),
        (["digest", "[bold]"], Exit.USAGE, "no topic"),
        (["search", "titel:cache"], Exit.USAGE, "title"),
        (["search", '"unclosed'], Exit.USAGE, "quot"),
        (["search"], Exit.USAGE, "How it goes: broadsheet help search"),
        (["search", "cache", "--jsn"], Exit.USAGE, "Did you mean '--json'?"),
        (["search", "page=nowhere", "cache"], Exit.USAGE, "page"),
        (["digest", "--days", "nan"], Exit.USAGE, "--days"),
        (["collect", "nowhere"], Exit.USAGE, "There are: arxiv, huggingface, github"),
        (["colect"], Exit.USAGE, "No such command"),
        (["mamba"], Exit.USAGE, "To search: broadsheet search mamba"),
        (["kv", "cache", "of O'Neil"], Exit.USAGE, "To search: broadsheet search kv cache"),
        (["digest", "--entries", "0"], Exit.USAGE, "--entries"),
        (["digest", "--html", "/nowhere/page.html"], Exit.USAGE, "cannot be written"),
        (["--config", "nowhere.toml", "topics"], Exit.SETTINGS, "does not exist"),
        (["db", "restore", "--yes", "nowhere"], Exit.USAGE, "does not exist"),
    ],
)
async def test_a_mistake_is_told_in_a_sentence_with_a_status_of_its_own(
    desk: Desk, arguments: list[str], status: Exit, sentence: str
) -> None:
    ran = await desk.run(*arguments)

    assert ran.status == status
    assert sentence in ran.err


async def test_a_bad_setting_or_topic_pack_is_told_in_a_sentence(desk: Desk) -> None:
    desk.settle("contakt = 'me'")
    ran = await desk.run("collect")
    assert (ran.status, 'Did you mean "contact"?' in ran.err) == (Exit.SETTINGS, True)

    desk.settle(f"topics_dir = '{desk.folder}'")
    (desk.folder / "mine.toml").write_text('name = "mine"\ntitle = "Mine"\nquery = "titel:x"\n')
    (desk.folder / "broadsheet.toml").rename(desk.folder / "b.conf")
    ran = await desk.run("--config", "b.conf", "topics")
    assert (ran.status, "mine.toml" in ran.err) == (Exit.SETTINGS, True)


async def test_a_search_may_begin_with_a_minus(desk: Desk) -> None:
    await desk.run("collect", "huggingface")

    ran = await desk.run("search", "-survey", "agents", "--json")

    assert ran.status == Exit.OK
    assert json.loads(ran.out)["entries"]


async def test_a_word_with_an_h_is_left_out_like_any_other(desk: Desk) -> None:
    await desk.run("collect", "huggingface")

    found = await desk.run("search", "-theory", "agents", "--json")

    assert json.loads(found.out)["entries"]
    assert (await desk.run("search", "-h")).out.startswith("Usage:")


async def test_a_page_that_cannot_be_written_costs_no_digest(desk: Desk) -> None:
    ran = await desk.run("demo", "--html", "nowhere/page.html")

    assert (ran.status, "cannot be written" in ran.err) == (Exit.USAGE, True)
    assert " more on topic" in ran.out


async def test_output_that_nobody_takes_is_told_or_is_no_fault(desk: Desk) -> None:
    for arguments in (["version"], ["topics"], ["pack", "hci"], ["topics", "--json"]):
        disk = os.open("/dev/full", os.O_WRONLY)
        full = await desk.run_into(disk, *arguments)
        os.close(disk)
        assert (full.status, "No space left on device" in full.err) == (Exit.USAGE, True), arguments
        reader, writer = os.pipe()
        os.close(reader)
        gone = await desk.run_into(writer, *arguments)
        os.close(writer)
        assert (gone.status, gone.err) == (Exit.OK, ""), arguments

    full = await desk.shell("version > /dev/full")
    assert (full.status, "No space left on device" in full.err) == (Exit.USAGE, True)
    gone = await desk.shell("version | true; exit ${PIPESTATUS[0]}")
    assert (gone.status, gone.err) == (Exit.OK, "")


async def test_an_encoding_without_our_signs_stops_nothing(desk: Desk) -> None:
    await desk.run("collect", "huggingface")

    assert (await desk.anew("search", "--help", PYTHONIOENCODING="latin-1", decoded="latin-1")).status == Exit.OK
    for arguments in (["search", "--help"], ["digest"], ["digest", "--json"], ["search", "the", "--json"]):
        assert (await desk.run(*arguments, PYTHONIOENCODING="latin-1", decoded="latin-1")).status == Exit.OK

    ascii_only = await desk.run("digest", "--json", PYTHONIOENCODING="latin-1")
    assert json.loads(ascii_only.out) == json.loads((await desk.run("digest", "--json")).out)


async def test_nothing_to_do_is_told(desk: Desk) -> None:
    (desk.folder / "broadsheet.toml").write_text(
        "topics = []\n" + "".join(f"[{name}]\nenabled = false\n" for name in ("arxiv", "huggingface", "github"))
    )

    assert "No topic is followed" in (await desk.run("digest")).err
    assert "switched off" in (await desk.run("collect")).err


async def test_a_time_without_a_zone_is_utc(desk: Desk) -> None:
    assert (await desk.run("--now", "2026-04-01", "digest", "--json")).status == Exit.OK


async def test_before_anything_is_collected_the_next_step_is_said(desk: Desk) -> None:
    for arguments in (["digest"], ["search", "cache"]):
        ran = await desk.run(*arguments)
        assert ran.status == Exit.OK
        assert "broadsheet collect" in ran.err


async def test_topics_are_listed_and_shown_as_packs_that_can_be_used(desk: Desk) -> None:
    listed = json.loads((await desk.run("topics", "--json")).out)
    shown = await desk.run("pack", "gpu-systems")

    assert any("gpu-systems" in entry["title"] for entry in listed["entries"])
    packs = desk.folder / "packs"
    packs.mkdir()
    (packs / "own.toml").write_text(shown.out.replace("gpu-systems", "own", 1))
    desk.settle(f"topics_dir = '{packs}'")
    assert "own" in (await desk.run("topics")).out

    await desk.run("topic", "create", "caches", "from", "own")
    (packs / "caches.toml").write_text((await desk.run("pack", "caches")).out.replace('"caches"', '"more-caches"', 1))
    assert "more-caches" in (await desk.run("topics")).out


async def test_a_search_by_the_index_beside_the_database_finds_what_one_without_it_finds(desk: Desk) -> None:
    await desk.run("collect")
    plain = json.loads((await desk.run("search", "language models", "sort:new", "--json")).out)
    desk.settle('[search]\nengine = "tantivy"')
    for _ in range(2):  # the index is made; the index is there
        beside = json.loads((await desk.run("search", "language models", "sort:new", "--json")).out)
        assert beside["entries"] == plain["entries"]
    told = (await desk.run("doctor", "--offline")).out
    assert "search: the index of tantivy" in told
    desk.settle('[search]\nengine = "lucene"')
    assert "fts5" in (await desk.run("search", "the")).err


async def test_the_doctor_finds_a_sound_house_and_names_what_is_wrong(desk: Desk) -> None:
    well = await desk.run("doctor", BROADSHEET_EMBEDDINGS__USE="fast")
    assert well.status == Exit.OK, well.out
    assert "ok    database" in well.out
    assert "ok    summaries: their models can be read" in well.out
    assert "ok    embeddings: their model can be read" in well.out

    desk.settle('topics = ["gpu-systems", "nope"]'.replace("topics", "contact = 'x@y'\n#", 1), github="http://127.0.0.1:9")
    with (desk.folder / "broadsheet.toml").open("a") as settings:
        settings.write('[llm]\nenabled = true\nmodel = "m"\nbase_url = "http://127.0.0.1:9"\n')
        settings.write('[embeddings]\nmodel = "m"\ndimensions = 3\nbase_url = "http://127.0.0.1:9"\n')
    ill = await desk.run("doctor", BROADSHEET_EMBEDDINGS__USE="on")
    assert ill.status == Exit.UNWELL
    assert "mend  LLM: http://127.0.0.1:9/chat/completions could not be reached" in ill.out
    assert "mend  embeddings" in ill.out
    assert "http://127.0.0.1:9/embeddings could not be reached" in ill.out
    assert "mend  GitHub" in ill.out


async def test_the_doctor_says_what_stands_in_the_place_of_a_retired_setting(desk: Desk) -> None:
    told = (await desk.run("doctor", "--offline", BROADSHEET_SLACK__LAYOUT="thread")).out

    assert "note  settings: `slack.layout` is retired, digests stay in threads there: `layout` under [digest]" in told
    assert "retired" not in (await desk.run("doctor", "--offline")).out


async def test_the_doctor_says_which_categories_of_the_topics_are_not_collected(desk: Desk) -> None:
    told = (await desk.run("doctor", "--offline", BROADSHEET_TOPICS='["robotics"]')).out
    assert "not collected" not in told
    told = (
        await desk.run("doctor", "--offline", BROADSHEET_TOPICS='["robotics"]', BROADSHEET_ARXIV__FOLLOW_TOPICS="false")
    ).out
    assert "topic robotics: arXiv's cs.RO is not collected" in " ".join(told.split())


async def test_the_doctor_names_packs_and_copies_of_packs_that_lack_what_came_since(desk: Desk) -> None:
    folder = desk.folder / "packs"
    folder.mkdir()
    (folder / "mine.toml").write_text('name = "robotics"\ntitle = "Robots"\nquery = "robot"\n')
    told = (await desk.run("doctor", "--offline", BROADSHEET_TOPICS_DIR=str(folder))).out
    assert "your own pack lacks what the included one has: a bar of 0.2" in " ".join(told.split())
    assert "your own" not in (await desk.run("doctor", "--offline")).out

    await desk.run("topic", "edit", "hci", "title", "Screens")
    await desk.run("topic", "edit", "hci", "categories", "none")
    await desk.run("subscribe", "hci")
    told = (await desk.run("doctor", "--offline")).out
    assert "the copy of local lacks what the included one has: 2 categories of arXiv" in " ".join(told.split())
    await desk.run("topic", "delete", "hci")
    assert "lacks" not in (await desk.run("doctor", "--offline")).out


async def test_the_doctor_names_subscriptions_whose_bar_is_above_their_topics(desk: Desk) -> None:
    await desk.run("subscribe", "hci", "min", "0.4")
    assert "`min 0.4` asks for more relevance than the topic, 0.22" in " ".join(
        (await desk.run("doctor", "--offline")).out.split()
    )
    await desk.run("subscribe", "hci", "min", "usual")
    assert "more relevance" not in (await desk.run("doctor", "--offline")).out


async def test_the_doctor_says_which_files_others_can_read_and_how_to_mend_it(desk: Desk) -> None:
    settings, kept = desk.folder / "broadsheet.toml", desk.folder / "kept"
    settings.chmod(0o644)
    assert " files: " not in (await desk.run("doctor", "--offline")).out  # no secret stands in these settings

    desk.settle(f'[llm]\napi_key = "a-key"\n[run]\nbackup_dir = "{kept}"')
    settings.chmod(0o644)
    kept.mkdir()
    kept.chmod(0o777)
    told = await desk.run("doctor", "--offline")
    assert told.status == Exit.UNWELL, told.err
    assert "mend  files: others can read the secrets in broadsheet.toml: chmod 600 broadsheet.toml\n" in told.out
    assert f"mend  files: others can replace what lies in {kept}: chmod go-w {kept}\n" in told.out

    settings.chmod(0o600)
    kept.chmod(0o700)
    mended = await desk.run("doctor", "--offline")
    assert (mended.status, " files: " in mended.out) == (Exit.OK, False), mended.out


async def test_what_brings_broadsheet_into_slack_and_discord_is_printed(desk: Desk) -> None:
    printed = await desk.run("slack", "manifest", "--socket", "--name", "Papers")
    assert printed.status == Exit.OK, printed.err
    made = json.loads(printed.out)
    assert (made["display_information"]["name"], made["settings"]["socket_mode_enabled"]) == ("Papers", True)

    unknown = await desk.run("discord", "invite")
    assert (unknown.status, "identifier" in unknown.err) == (Exit.USAGE, True)
    token = "MTIzNDU2Nzg5MDEyMzQ1Njc4.GabcdE.abcdefghijklmnopqrstuvwxyz0"
    known = await desk.run("discord", "invite", BROADSHEET_DISCORD__TOKEN=token)
    assert "client_id=123456789012345678&" in known.out
    assert "Interactions" not in known.err
    over_http = {"BROADSHEET_DISCORD__INTERACTIONS": "http", "BROADSHEET_DISCORD__PUBLIC_URL": "https://digest.example.org/"}
    known = await desk.run("discord", "invite", BROADSHEET_DISCORD__TOKEN=token, **over_http)
    assert "Interactions Endpoint URL: https://digest.example.org/discord/interactions" in known.err


async def test_chat_settings_that_cannot_work_are_refused_and_what_cannot_be_reached_is_the_doctors_to_tell(
    desk: Desk,
) -> None:
    desk.settle()
    with (desk.folder / "broadsheet.toml").open("a") as settings:
        settings.write('[slack]\nbot_token = "xoxb-1-s3cret"\napi_url = "http://127.0.0.1:9/api"\n')
    refused = await desk.run("run")
    assert (refused.status, "`app_token` in [slack]" in refused.err) == (Exit.SETTINGS, True)
    tried = await desk.run("doctor", BROADSHEET_SLACK__APP_TOKEN="xapp-1-s3cret")
    assert tried.status == Exit.UNWELL
    assert "mend  Slack" in tried.out
    assert "s3cret" not in refused.err + tried.out + tried.err


async def test_without_a_network_the_doctor_says_so_once_and_gives_no_advice_on_tokens(desk: Desk) -> None:
    away = "http://127.0.0.1:9"
    desk.settle(url=away)
    with (desk.folder / "broadsheet.toml").open("a") as settings:
        settings.write(f'[slack]\nbot_token = "xoxb-1-s3cret"\napp_token = "xapp-1-s3cret"\napi_url = "{away}/api"\n')
    (desk.folder / "broadsheet.toml").chmod(0o600)
    tried = await desk.run("doctor")
    assert tried.status == Exit.UNWELL
    assert tried.out.splitlines()[0] == (
        "mend  network: nothing outside was reached (arXiv, Hugging Face, GitHub, Slack), and no token was tried. "
        "Every connection failed: check this machine's network and its firewall"
    )
    assert "install the app again" not in tried.out
    assert tried.out.count("mend ") == 1

    desk.settle(github=away)  # the others answer: it is not the network
    tried = await desk.run("doctor")
    assert "mend  network" not in tried.out
    assert "mend  GitHub: http://127.0.0.1:9/rate_limit could not be reached" in tried.out


async def test_a_backup_can_be_put_back(desk: Desk) -> None:
    await desk.run("collect", "huggingface")
    assert (await desk.run("db", "backup", "copy.sqlite3")).status == Exit.OK
    desk.database.unlink()
    for name in ("-wal", "-shm"):
        desk.database.with_name(desk.database.name + name).unlink(missing_ok=True)

    restored = await desk.run("db", "restore", "--yes", "copy.sqlite3")
    checked = await desk.run("db", "check", "--json")

    assert restored.status == Exit.OK, restored.err
    assert json.loads(checked.out)["sound"]
    assert json.loads(checked.out)["counts"]["items"] > 10
    for command in ("migrate", "prune", "vacuum"):
        assert (await desk.run("db", command)).status == Exit.OK


async def test_what_a_restore_put_aside_is_told_and_no_empty_database_is_made_where_there_was_one(desk: Desk) -> None:
    assert (await desk.run("db", "migrate")).status == Exit.OK
    assert (await desk.run("db", "backup", "copy.sqlite3")).status == Exit.OK
    restored = await desk.run("db", "restore", "--yes", "copy.sqlite3")
    (aside,) = desk.database.parent.glob("b.sqlite3.before-*")
    assert restored.out == f"Restored {desk.database}. The old one is {aside}.\n"
    assert (
        f"note  database: put aside beside it, to be removed when nobody misses it: {aside.name}"
        in (await desk.run("doctor", "--offline")).out
    )
    itself = await desk.run("db", "restore", "--yes", str(desk.database))
    assert (itself.status, "is the database itself" in itself.err) == (Exit.DATABASE, True)
    kept = await desk.run("db", "wal", "keep")
    assert (kept.status, kept.out) == (Exit.OK, "The database is opened with what lies beside it.\n")

    desk.database.unlink()
    refused = await desk.run("doctor", "--offline")
    assert refused.status == Exit.DATABASE
    assert f"There is no database in {desk.database}, but {aside.name} beside it" in refused.err
    assert not desk.database.exists()
    assert (await desk.run("db", "restore", "--yes", str(aside))).status == Exit.OK
    assert (await desk.run("db", "check")).status == Exit.OK


async def test_a_backup_replaces_older_backups_and_nothing_else(desk: Desk) -> None:
    await desk.run("collect", "huggingface")
    for _ in range(2):
        assert (await desk.run("db", "backup", "copy.sqlite3")).status == Exit.OK

    itself = await desk.run("db", "backup", "data/../data/b.sqlite3")
    settings = await desk.run("db", "backup", "broadsheet.toml")

    assert (itself.status, "is the database itself" in itself.err) == (Exit.USAGE, True)
    assert (settings.status, "is no backup" in settings.err) == (Exit.USAGE, True)
    assert (await desk.run("db", "backup", "data")).status == Exit.USAGE
    assert (await desk.run("db", "check")).status == Exit.OK


async def test_what_was_collected_gets_its_vectors_and_is_found_by_its_meaning(desk: Desk) -> None:
    down = {f"BROADSHEET_EMBEDDINGS__{name}": value for name, value in ENDPOINT.items()}
    collected = await desk.run("collect", "huggingface", **down, BROADSHEET_EMBEDDINGS__USE="on")
    assert collected.status == Exit.OK, collected.err
    assert "127.0.0.1:9/embeddings could not be reached" in collected.err

    dead = await desk.run("db", "embed", **down, BROADSHEET_EMBEDDINGS__USE="on")
    assert (dead.status, dead.out) == (Exit.SOURCE, "")
    assert "127.0.0.1:9/embeddings could not be reached" in dead.err
    assert dead.err.endswith("Mend what `broadsheet doctor` says of it and run this again: it goes on where it was.\n")
    off = await desk.run("db", "embed", BROADSHEET_EMBEDDINGS__USE="off")
    assert (off.status, off.out) == (Exit.USAGE, "")
    assert "Embeddings are switched off" in off.err

    embedded = await desk.run("db", "embed", BROADSHEET_EMBEDDINGS__USE="fast")
    assert re.fullmatch(r"([1-9]\d+) of \1 items have a vector\.\n", embedded.out), embedded.err
    found = await desk.run("search", "filmmaking sort:best", BROADSHEET_EMBEDDINGS__USE="fast")
    assert "close in meaning" in found.out, found.out


async def test_a_database_that_cannot_be_used_is_told_in_a_sentence(desk: Desk) -> None:
    desk.database.parent.mkdir(parents=True)
    desk.database.write_bytes(b"this is no database" * 100)
    garbage = await desk.run("collect")
    assert garbage.status == Exit.DATABASE
    assert str(desk.database) in garbage.err

    desk.database.unlink()
    assert (await desk.run("db", "migrate")).status == Exit.OK
    with sqlite3.connect(desk.database) as newer:
        newer.execute(
            "insert into _sqlite_migrations (migration_set, name, applied_at)"
            " select migration_set, 'm999', '' from _sqlite_migrations limit 1"
        )
    newer.close()
    refused = await desk.run("digest")
    assert refused.status == Exit.DATABASE
    assert "newer" in refused.err


async def test_the_service_lives_until_it_is_told_to_stop_and_keeps_a_second_one_out(desk: Desk) -> None:
    service = await desk.start("run")
    try:
        for _ in range(100):
            await asyncio.sleep(0.2)
            health = await desk.run("doctor", "--health")
            if health.status == Exit.OK:
                break
        assert health.status == Exit.OK, health.out

        second = await desk.run("run")
        assert second.status == Exit.DATABASE
        assert (await desk.run("digest", "gpu-systems")).status == Exit.OK
    finally:
        service.send_signal(signal.SIGTERM)
        _, err = await asyncio.wait_for(service.communicate(), PATIENCE)
    assert service.returncode == Exit.OK, err.decode()
    assert "Traceback" not in err.decode()


async def test_the_demo_needs_nothing_and_keeps_nothing(desk: Desk) -> None:
    (desk.folder / "broadsheet.toml").unlink()

    ran = await desk.run("demo")

    assert ran.status == Exit.OK, ran.err
    assert max(map(len, ran.out.splitlines())) <= 80
    assert ran.out.count("code ★") >= 3
    assert "Why it matters" not in ran.out.partition("The same in Slack")[0]
    assert (await desk.run("demo", "--full", "--as", "terminal")).out.count("Why here") >= 6
    assert ran.out.index("The same in Slack") < ran.out.index("The same in Discord")
    assert "[⋯]" in ran.out
    sent = await desk.run("demo", "--as", "slack", "--json")
    assert {block["type"] for block in json.loads(sent.out)[0][0]["blocks"]} >= {"header", "section", "context"}
    assert sorted(path.name for path in desk.folder.iterdir()) == ["demo.html"]


async def test_the_demo_shows_its_digests_as_mails_and_sends_them_to_a_mail_server_of_this_machine(desk: Desk) -> None:
    shown = await desk.run("demo", "--as", "email")
    assert shown.out.count("Subject: ") == 3
    assert shown.out.count("Why here: ") >= 6
    async with smtp.running() as server:
        sent = await desk.run("demo", "--relay", f"127.0.0.1:{server.port}")
    assert sent.status == Exit.OK, sent.err
    subjects = [str(each.parsed["Subject"]) for each in server.taken]
    assert len(subjects) == 3
    assert sent.out.splitlines()[1:] == subjects
    closed = await desk.run("demo", "--relay", f"127.0.0.1:{server.port}")
    assert "The mail server could not be reached" in closed.err
    elsewhere = await desk.run("demo", "--relay", "mail.lab.example:25")
    assert (elsewhere.status, "no mail server on this machine" in elsewhere.err) == (Exit.USAGE, True)


async def test_who_reads_only_the_beginning_gets_no_error(desk: Desk) -> None:
    reader, writer = os.pipe()
    demo = await desk.start_into(writer, "demo")
    os.close(writer)
    with os.fdopen(reader, "rb") as head:
        assert await asyncio.to_thread(head.readline)
    _, err = await demo.communicate()

    assert demo.returncode == Exit.OK
    assert b"Exception" not in err
