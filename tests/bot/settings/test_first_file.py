import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import SettingsError, UsageError
from bot.settings.first_file import Answers, write_first
from bot.settings.load import load
from bot.settings.topic_packs import load_packs, packs_named

NOW = datetime(2026, 4, 1, 7, tzinfo=UTC)
PLAIN = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30)
ANY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=30)


@given(PLAIN, st.lists(ANY, max_size=4), ANY)
def test_what_was_answered_is_what_the_file_says(
    tmp_path_factory: pytest.TempPathFactory, contact: str, topics: list[str], token: str
) -> None:
    path = tmp_path_factory.mktemp("settings") / "broadsheet.toml"
    answers = Answers("Europe/Zurich", tuple(topics), contact, {"slack.bot_token": token, "discord.token": "a.b.c"})

    write_first(path, answers.text(), NOW, replace=False)

    found = load(path)
    assert (found.zone, found.contact) == ("Europe/Zurich", contact)
    assert found.topics == (tuple(topics) or ("gpu-systems",))
    assert found.slack.bot_token.get_secret_value() == token
    assert found.discord.token.get_secret_value() == "a.b.c"
    assert "a.b.c" not in repr(answers)


def test_a_secret_in_a_file_is_named_and_not_copied(tmp_path: Path) -> None:
    secret, path = tmp_path / 'a "token"', tmp_path / "new" / "broadsheet.toml"
    secret.write_text("s3cret\n")

    write_first(path, Answers(secrets={"discord.token": secret}).text(), NOW, replace=False)

    assert "s3cret" not in path.read_text()
    assert load(path).discord.token.get_secret_value() == "s3cret"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_settings_that_are_there_stay_unless_they_are_to_be_replaced_and_are_kept_then(tmp_path: Path) -> None:
    path, mine = tmp_path / "broadsheet.toml", "# mine\n"
    path.write_text(mine)
    with pytest.raises(SettingsError, match="is there already; nothing was changed"):
        write_first(path, "new", NOW, replace=False)
    assert path.read_text() == mine

    aside = write_first(path, "# new\n", NOW, replace=True)

    assert aside == tmp_path / "broadsheet.toml.before-20260401T070000"
    assert (path.read_text(), aside.read_text()) == ("# new\n", mine)
    assert {stat.S_IMODE(each.stat().st_mode) for each in tmp_path.iterdir()} == {0o600}


def test_a_link_stays_one_when_the_settings_that_it_leads_to_are_replaced(tmp_path: Path) -> None:
    (tmp_path / "real.toml").write_text("# mine\n")
    (tmp_path / "broadsheet.toml").symlink_to("real.toml")

    write_first(tmp_path / "broadsheet.toml", "# new\n", NOW, replace=True)

    assert (tmp_path / "broadsheet.toml").is_symlink()
    assert (tmp_path / "real.toml").read_text() == "# new\n"


def test_where_nothing_can_be_written_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="cannot be written"):
        write_first(tmp_path / "file" / "broadsheet.toml", "", NOW, replace=False)


def test_topics_are_named_by_name_or_title_each_once() -> None:
    packs = load_packs()
    assert packs_named("gpu-systems, llm agents,GPU  Systems,", packs) == ("gpu-systems", "llm-agents")
    with pytest.raises(UsageError, match='no topic "gpu-sistems"') as caught:
        packs_named("gpu-sistems", packs)
    assert caught.value.hint == "Did you mean gpu-systems?"
    for text, hint in (("zzz", "lists those"), (" , ", "")):
        with pytest.raises(UsageError) as caught:
            packs_named(text, packs)
        assert hint in caught.value.hint
