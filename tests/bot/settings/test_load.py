import tomllib
from pathlib import Path
from typing import Any

import pytest

from bot.errors import SettingsError
from bot.settings.load import MCP_TOKEN, Settings, find_file, holds_secrets, load, mcp_token, names

EXAMPLE = Path(__file__).parents[3] / "config" / "broadsheet.example.toml"


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(text: str) -> Path:
        path = tmp_path / "broadsheet.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}.")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            found |= flat(value[0], f"{prefix}{name}[].")
        else:
            found[f"{prefix}{name}"] = value
    return found


def test_the_example_names_every_setting_and_shows_its_default() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    commented = text.replace("# [[feeds]]", "[[feeds]]").replace("# topics_dir", "topics_dir")
    for name in ("name", "url", "title"):
        commented = commented.replace(f"# {name} =", f"{name} =")

    assert set(flat(tomllib.loads(commented))) == set(names())
    assert Settings(**tomllib.loads(text)) == Settings()


def test_a_variable_wins_over_the_file(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROADSHEET_DIGEST__ENTRIES", "3")
    monkeypatch.setenv("BROADSHEET_TOPICS", '["robotics"]')

    settings = load(write("topics = ['a', 'b']\n[digest]\nentries = 9\nrepositories = 1\n"))

    assert (settings.digest.entries, settings.digest.repositories, settings.topics) == (3, 1, ("robotics",))


def test_a_secret_can_stand_in_a_file_of_its_own(write: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret\n")
    monkeypatch.setenv("BROADSHEET_GITHUB__TOKEN_FILE", str(tmp_path / "token"))

    settings = load(write("[github]\nwatch = ['a/b']\n"))

    assert settings.github.token.get_secret_value() == "s3cret"
    assert settings.github.watch == ("a/b",)
    assert "s3cret" not in repr(settings)


def test_the_settings_may_name_the_file_that_holds_a_secret(
    write: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("s3cret\n")
    beside = write("[github]\ntoken_file = 'token'\n")
    assert load(beside).github.token.get_secret_value() == "s3cret"
    assert not holds_secrets(beside)
    assert load(write(f"[github]\ntoken_file = '{tmp_path / 'token'}'\n")).github.token.get_secret_value() == "s3cret"
    assert load(write("[github]\ntoken_file = ''\n")).github.token.get_secret_value() == ""

    monkeypatch.setenv("BROADSHEET_GITHUB__TOKEN", "of the environment")
    assert load(write("[github]\ntoken_file = 'gone'\n")).github.token.get_secret_value() == "of the environment"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[github]\ntoken_file = 'gone'\n", r'"github.token_file" .* cannot be read: gone'),
        ("[github]\ntoken_file = 3\n", r'"github.token_file" .* cannot be read: 3'),
        ("[github]\ntoken_file = '~nobody-of-this-name/t'\n", "cannot be read"),
        ("[github]\ntoken = 'a'\ntoken_file = 'b'\n", 'either "github.token" or "github.token_file"'),
        ("[github]\nwatch_file = 'b'\n", 'There is no setting "github.watch_file"'),
        ("github = 3\n", '"github"'),
    ],
)
def test_a_file_for_a_secret_that_cannot_be_used_is_named(write: Any, text: str, sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence):
        load(write(text))


def test_a_zone_is_kept_by_its_true_name(write: Any) -> None:
    assert load(write("zone = 'Zürich'\n")).zone == "Europe/Zurich"
    with pytest.raises(SettingsError, match=r"Name a place: Europe/Berlin, Europe/Paris, Europe/Zurich\.$"):
        load(write("zone = 'CET'\n"))


def test_the_environment_is_left_as_it_was(write: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import os

    monkeypatch.setenv("BROADSHEET_LLM__API_KEY_FILE", str(write("k")))
    before = dict(os.environ)
    load(write(""))

    assert dict(os.environ) == before


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[githb]\ntoken = 'x'\n", 'no setting "githb"'),
        ("[githb]\ntoken = 'x'\n", 'Did you mean "github"?'),
        ("[github]\ntokn = 'x'\n", 'Did you mean "github.token"?'),
        ("topics = 'gpu'\n", '"topics"'),
        ("[arxiv]\nseconds_between = 1\n", "at least 3"),
        ("[arxiv]\nfeed_url = 'file:///etc/passwd'\n", "http://"),
        ("[huggingface]\nbase_url = 'https://me:pw@huggingface.co'\n", "must not hold"),
        ("[digest]\nentries = 0\n", '"digest.entries"'),
        ("[llm]\nenabled = true\n", "model must be set"),
        ('[embeddings]\nbase_url = "http://x/v1"\n', "model and dimensions must be set"),
        ("[[feeds]]\nname = 'A B'\nurl = 'https://x.org'\n", '"feeds.0.name"'),
        ("contact = 'Zoë'\n", "plain ASCII"),
        ('contact = "a\\r\\nX-More: 1"\n', "one line"),
        ("proxy = 'nonsense'\n", "HTTP proxy"),
        ("[arxiv]\nseconds_between = inf\n", '"arxiv.seconds_between"'),
        ("[keep]\nitems_days = 999999999\n", '"keep.items_days"'),
        ("topics_dir = '~nobody-of-this-name/packs'\n", "write the whole path"),
        ("[health]\nport = 70000\n", '"health.port"'),
        ("[health]\nhost = 'http://0.0.0.0'\n", "an address of this machine"),
        ("[run]\nbackup_dir = '~nobody-of-this-name/b'\n", "write the whole path"),
        ("= 3", "not valid TOML"),
        ("topics = [\n", "not valid TOML"),
    ],
)
def test_a_bad_setting_is_one_sentence_that_names_it(write: Any, text: str, sentence: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(write(text))

    assert sentence in str(caught.value)
    assert "broadsheet.toml" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "pw@" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("BROADSHEET_GITHUB__TOKE", "x", 'Did you mean "BROADSHEET_GITHUB__TOKEN"?'),
        ("BROADSHEET_GITHUB__TOKEN_FILE", "/does/not/exist", "cannot be read"),
        ("BROADSHEET_TOPICS", "a, b", "written as JSON"),
        ("BROADSHEET_DIGEST__ENTRIES", "many", '"digest.entries" (in BROADSHEET_DIGEST__ENTRIES)'),
        ("BROADSHEET_FEEDS", '[{"name": "lab", "url": "ftp://x"}]', "(in BROADSHEET_FEEDS)"),
    ],
)
def test_a_bad_variable_is_one_sentence_that_names_it(
    write: Any, monkeypatch: pytest.MonkeyPatch, name: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        load(write(""))

    assert sentence in str(caught.value)


def test_a_secret_given_twice_is_refused(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROADSHEET_GITHUB__TOKEN", "a")
    monkeypatch.setenv("BROADSHEET_GITHUB__TOKEN_FILE", str(write("b")))
    with pytest.raises(SettingsError, match="not both"):
        load(write(""))


def test_a_variable_that_an_image_sets_is_emptied_where_a_file_has_the_value(
    write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "address").write_text("postgresql://broadsheet:secret@db.lab.example/broadsheet\n")
    monkeypatch.setenv("BROADSHEET_DATABASE", "")
    monkeypatch.setenv("BROADSHEET_DATABASE_FILE", str(tmp_path / "address"))

    assert load(write("")).database_address == "postgresql://broadsheet:secret@db.lab.example/broadsheet"

    monkeypatch.setenv("BROADSHEET_DATABASE", "/data/broadsheet.sqlite3")
    with pytest.raises(SettingsError, match="not both"):
        load(write(""))


def test_feeds_of_one_name_are_refused(write: Any) -> None:
    feed = "[[feeds]]\nname = 'lab'\nurl = 'https://{}.org/feed'\n"

    with pytest.raises(SettingsError, match='two feeds are named "lab"'):
        load(write(feed.format("a") + feed.format("b")))


def test_a_home_that_nobody_has_is_told_only_where_it_is_needed(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load(write("database = '~nobody-of-this-name/b.sqlite3'\n"))

    with pytest.raises(SettingsError, match=r'"database" \(~nobody.* write the whole path'):
        _ = settings.database_path
    assert find_file({"XDG_CONFIG_HOME": "~nobody-of-this-name"}) is None


def test_topics_may_lie_at_home_and_an_empty_text_is_no_folder(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/somewhere")

    assert load(write("topics_dir = '~/packs'\n")).topics_dir == Path("/somewhere/packs")
    assert load(write("topics_dir = ''\n")).topics_dir is None


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="does not exist"):
        load(tmp_path / "nowhere.toml")


def test_the_file_is_looked_for_where_it_was_said_then_here_then_at_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "home"
    (home / "broadsheet").mkdir(parents=True)
    own = home / "broadsheet" / "broadsheet.toml"
    environ = {"XDG_CONFIG_HOME": str(home)}

    assert find_file(environ) is None
    own.touch()
    assert find_file(environ) == own
    Path("broadsheet.toml").touch()
    assert find_file(environ) == Path("broadsheet.toml")
    assert find_file(environ | {"BROADSHEET_CONFIG": "/etc/b.toml"}) == Path("/etc/b.toml")


def test_a_slower_pace_than_arxivs_is_allowed_for_another_host_only(write: Any) -> None:
    mirror = "seconds_between = 0\nfeed_url = 'http://127.0.0.1:1/atom'\n"
    with pytest.raises(SettingsError):
        load(write(f"[arxiv]\n{mirror}"))

    others = "api_url = 'http://127.0.0.1:1/api'\noai_url = 'http://127.0.0.1:1/oai'\n"
    assert load(write(f"[arxiv]\n{mirror}{others}")).arxiv.seconds_between == 0


@pytest.mark.parametrize("address", ["mysql://ada:hunter2@db/papers", "postgres//ada:hunter2@db/papers"])
def test_an_address_of_no_postgresql_is_not_taken_for_a_file(write: Any, address: str) -> None:
    with pytest.raises(SettingsError, match="postgresql://") as raised:
        load(write(f"database = '{address}'"))
    assert "hunter2" not in str(raised.value)


def test_digests_of_the_terminal_lie_beside_the_database_unless_a_folder_is_named(write: Any) -> None:
    assert load(write("database = '/data/b.sqlite3'\n")).digests_path == Path("/data/digests")
    assert load(write("[run]\ndigests_dir = '/srv/papers'\n")).digests_path == Path("/srv/papers")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("contact = 'a@example.org'\n[github]\nwatch = ['a/b']\n", False),
        ("[github]\ntoken = ''\n", False),
        ("[github]\ntoken = 'anything'\n", True),
        ("proxy = 'http://me:hunter2@proxy:3128'\n", True),
        ("[[feeds]]\nname = 'a'\nurl = 'https://example.org/feed?key=abc123'\n", True),
        ("# token = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'\n", False),
    ],
)
def test_a_file_holds_secrets_where_a_secret_setting_or_an_address_with_credentials_stands_in_it(
    write: Any, text: str, found: bool
) -> None:
    assert holds_secrets(write(text)) is found


def test_the_example_holds_no_secret() -> None:
    assert not holds_secrets(EXAMPLE)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[slack]\nlayout = 'thread'\n", ["`slack.layout` is retired, digests stay in threads there"]),
        ("[slack]\nlayout = 'message'\n", ["`slack.layout` is retired, it says nothing any more"]),
        ("[discord]\nthreads = true\n", ["`discord.threads` is retired, digests stay in threads there"]),
        ("[digest]\nlayout = 'full'\n", []),
    ],
)
def test_a_setting_of_before_is_read_and_what_stands_in_its_place_is_said(write: Any, text: str, said: list[str]) -> None:
    found = load(write(text)).retired

    assert [each.partition(":")[0] for each in found] == said
    assert all("`layout` under [digest]" in each for each in found)


def test_a_variable_of_before_is_read(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROADSHEET_SLACK__LAYOUT", "thread")

    assert load(write("")).retired[0].startswith("`slack.layout` is retired")


def test_an_assistants_token_is_a_variable_or_a_file_and_no_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "token"
    file.write_text("bsm_1\n")
    assert [mcp_token(each) for each in ({}, {MCP_TOKEN: " bsm_2 "}, {f"{MCP_TOKEN}_FILE": str(file)})] == [
        "",
        "bsm_2",
        "bsm_1",
    ]
    for wrong in ({MCP_TOKEN: "a", f"{MCP_TOKEN}_FILE": str(file)}, {f"{MCP_TOKEN}_FILE": str(tmp_path / "none")}):
        with pytest.raises(SettingsError, match=MCP_TOKEN):
            mcp_token(wrong)
    monkeypatch.setenv(MCP_TOKEN, "bsm_2")
    assert load().model_fields_set == set()
