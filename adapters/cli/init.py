"""`broadsheet init`: five questions, each answer tried at once, and the settings file that follows from them."""

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from adapters.cli.exits import sentence_of
from adapters.cli.session import now_of
from bot.errors import SettingsError, UsageError

if TYPE_CHECKING:
    from adapters.chat.connection import CheckResult
    from bot.settings.load import Settings

T = TypeVar("T")

TERMINAL = "terminal"
USUAL_TOPIC = "gpu-systems"


@dataclass(frozen=True, slots=True)
class Token:
    """A token that a chat needs: the setting that it is, how it is called, how it begins."""

    setting: str
    called: str
    form: str
    option: str
    tried_as: str  # what the platform's check calls its finding on this token

    def is_one(self, text: str) -> bool:
        """Say whether the text has the form of such a token."""
        if self.form.endswith("-…"):
            return text.isprintable() and " " not in text and text.startswith(self.form.removesuffix("…"))
        parts = text.split(".")
        return len(parts) == 3 and all(part and part.replace("-", "").replace("_", "").isalnum() for part in parts)


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat that one may choose: its tokens, where they come from, and what is said once it runs."""

    title: str
    tokens: tuple[Token, ...] = ()
    where: str = ""
    then: str = ""


CHATS = {
    "slack": Chat(
        "Slack",
        (
            Token("slack.bot_token", "The bot's token", "xoxb-…", "--token-file", "Slack"),
            Token("slack.app_token", "The app-level token", "xapp-…", "--app-token-file", "Slack socket"),
        ),
        "At https://api.slack.com/apps: Create New App, From a manifest, with what `broadsheet slack manifest` prints;"
        " docs/slack.md has each step.",
        "/digest subscribe {} weekdays at 09:00",
    ),
    "discord": Chat(
        "Discord",
        (Token("discord.token", "The bot's token", "three parts joined by dots", "--token-file", "Discord"),),
        "At https://discord.com/developers/applications: New Application, Bot, Reset Token; docs/discord.md has each step.",
        "/digest-manage subscribe topic:{} days:weekdays at:09:00",
    ),
    TERMINAL: Chat("no chat"),
}


class TokenError(SettingsError):
    """A token that the chat did not take, or a chat that was not reached; `setting` is the one to give again."""

    def __init__(self, sentence: str, setting: str, *, is_untried: bool) -> None:
        super().__init__(sentence)
        self.setting, self.is_untried = setting, is_untried


@dataclass(slots=True)
class Given:
    """What was answered so far, by options and by questions."""

    chat: str = ""
    secrets: dict[str, str | Path] = field(default_factory=dict, repr=False)  # by setting: the text, or the file with it
    zone: str = ""
    topics: tuple[str, ...] = ()
    contact: str = ""

    def text_of(self, setting: str) -> str:
        """Return the secret itself; raises UsageError for a file that cannot be read."""
        given = self.secrets[setting]
        return _text_in(given) if isinstance(given, Path) else given

    def settings(self) -> "Settings":
        """Return them as settings, where the environment wins; raises SettingsError."""
        from bot.settings.load import settled

        values: dict[str, Any] = {"contact": self.contact, "zone": self.zone}
        values |= {"topics": list(self.topics)} if self.topics else {}
        for setting in self.secrets:
            section, _, name = setting.partition(".")
            values.setdefault(section, {})[name] = self.text_of(setting)
        return settled(values)


@click.command()
@click.option("--chat", type=click.Choice(list(CHATS)), help="The chat to post in; terminal is none.")
@click.option(
    "--token-file", type=click.Path(allow_dash=True), help="A file with the bot's token; - reads it from the input."
)
@click.option("--app-token-file", type=click.Path(allow_dash=True), help="A file with Slack's app-level token, or -.")
@click.option("--zone", help="The time zone of schedules, such as Europe/Zurich.")
@click.option("--topic", "topics", multiple=True, help="A topic to follow; may be given several times.")
@click.option("--contact", help="An e-mail address or a page that sources may turn to.")
@click.option("--offline", is_flag=True, help="Write the settings without trying the token.")
@click.option("--replace", is_flag=True, help="Write new settings where some are; those are kept beside them.")
@click.pass_context
def init(context: click.Context, /, **options: Any) -> None:
    """Ask five questions, try each answer, and write the settings file.

    The chat, its token, the time zone, topics, and a contact. What an option says is not asked; without a terminal,
    options say everything. No token is ever shown.
    """
    from bot.settings.load import usual_file

    path = (context.find_root().obj["config"] or usual_file(os.environ)).expanduser()
    asks = sys.stdin.isatty() and sys.stdout.isatty()
    replace = options["replace"] or _may_replace(path, asks=asks)
    given, at = Given(), now_of(context)
    for question in (_chat, _tokens, _zone, _topics, _contact):
        question(given, options, asks, at)
    _write(given, path, at, replace=replace)


def _may_replace(path: Path, *, asks: bool) -> bool:
    """Return whether the settings that are there may be replaced; ends where a person says no."""
    if not (path.exists() or path.is_symlink()):
        return False
    if not asks:
        raise SettingsError(f"{path} is there already; nothing was changed. --replace writes anew, and keeps it beside.")
    if not click.confirm(f"{path} is there already. Write new settings in its place, and keep it beside them?"):
        raise SettingsError("Nothing was changed.")
    return True


# --- the five questions: each takes its option, else asks, and tries what it was told


def _chat(given: Given, options: dict[str, Any], asks: bool, _at: datetime) -> None:
    if not options["chat"] and not asks:
        raise UsageError(
            "There is no terminal to ask in: say --chat, and --token-file for its token.",
            hint="For example: broadsheet init --chat slack --token-file bot-token --app-token-file app-token",
        )
    shown = click.Choice(list(CHATS))
    given.chat = options["chat"] or click.prompt("1/5  Which chat", type=shown, default="slack")
    settings = {token.setting for token in CHATS[given.chat].tokens}
    for token in (each for chat in CHATS.values() for each in chat.tokens):
        if options[_parameter(token)] and token.option not in {each.option for each in CHATS[given.chat].tokens}:
            raise UsageError(f"{token.option} is not for {CHATS[given.chat].title}.")
    if asks and settings:
        click.echo(f"     {CHATS[given.chat].where}")


def _tokens(given: Given, options: dict[str, Any], asks: bool, at: datetime) -> None:
    tokens = CHATS[given.chat].tokens
    for number, token in enumerate(tokens):
        _token(given, token, options[_parameter(token)], asks, "2/5  " if number == 0 else "     ")
    while tokens and not options["offline"]:
        try:
            return _say(_tried(given, at))
        except TokenError as refused:
            if not asks:
                raise SettingsError(
                    f"{refused} Nothing was written; --offline writes the settings without trying it."
                ) from None
            click.echo(f"     {refused}")
            if not _again(given, refused):
                return None
    return None


def _zone(given: Given, options: dict[str, Any], asks: bool, _at: datetime) -> None:
    from bot import zones

    usual = zones.of_machine(os.environ)
    given.zone = _answered("3/5  Time zone", options["zone"], usual, zones.resolve, asks=asks)


def _topics(given: Given, options: dict[str, Any], asks: bool, _at: datetime) -> None:
    from bot.settings.topic_packs import load_packs, packs_named

    packs = load_packs(given.settings().topics_dir)
    if asks and not options["topics"]:
        click.echo(click.wrap_text(f"There are {', '.join(packs)}.", 80, "     ", "     "))
    said = ",".join(options["topics"])
    given.topics = _answered("4/5  Topics", said, USUAL_TOPIC, lambda text: packs_named(text, packs), asks=asks)


def _contact(given: Given, options: dict[str, Any], asks: bool, _at: datetime) -> None:
    asked = "5/5  Your e-mail address or page, for the operators of sources (Enter: none)"
    given.contact = _answered(asked, options["contact"], "", _as_contact, asks=asks)
    if not given.contact:
        click.echo("     note  without one, a source can but block you where something goes wrong", err=not asks)


def _answered(question: str, said: str | None, usual: str, read: Callable[[str], T], *, asks: bool) -> T:
    """Return what the option says, or the answer, asked for until it can be used; without a terminal what is usual."""
    if said or not asks:
        return read(said if said is not None and said != "" else usual)
    while True:
        text = click.prompt(question, default=usual, show_default=bool(usual))
        try:
            return read(text)
        except UsageError as error:
            click.echo(f"     {sentence_of(error)}")


def _as_contact(text: str) -> str:
    name, at, host = text.strip().partition("@")
    is_page = text.strip().startswith(("https://", "http://"))
    if text.strip() and not is_page and not (name and at and "." in host):
        raise UsageError(
            "That is neither an e-mail address nor a page.", hint="Such as ada@example.org, or https://example.org."
        )
    if not (text.isascii() and text.isprintable()):
        raise UsageError("It is sent in a header: write it in plain ASCII.")
    return text.strip()


# --- tokens


def _parameter(token: Token) -> str:
    return token.option.removeprefix("--").replace("-", "_")


def _token(given: Given, token: Token, said: str | None, asks: bool, begins: str) -> None:
    """Take a token from the variable that gives it, from its option, or ask; nothing of it is shown."""
    from bot.settings.load import giving

    if variable := giving(token.setting, os.environ):
        return click.echo(f"{begins}{token.called} is given by {variable}.")
    if said == "-":
        given.secrets[token.setting] = _checked(token, sys.stdin.readline().strip(), token.option)
    elif said:
        given.secrets[token.setting] = _file_with(token, Path(said))
    elif asks:
        _ask_token(given, token, begins)
    else:
        raise UsageError(
            f"{token.option} is missing: a file with {token.called[0].lower()}{token.called[1:]} ({token.form})."
        )
    return None


def _ask_token(given: Given, token: Token, begins: str) -> None:
    question = f"{begins}{token.called} ({token.form}), or a file that holds it; nothing is shown"
    while True:
        text = click.prompt(question, hide_input=True).strip()
        if token.is_one(text):
            given.secrets[token.setting] = text
            return
        try:
            given.secrets[token.setting] = _file_with(token, Path(text))
        except UsageError:
            # What was typed is not repeated: it may be a token of another kind.
            click.echo(f"     That is neither such a token ({token.form}) nor a file that holds one.")
        else:
            return


def _file_with(token: Token, path: Path) -> Path:
    from bot.private_files import is_open_to_others

    _checked(token, _text_in(path), str(path))
    if is_open_to_others(path.expanduser()):
        click.echo(f"     note  others can read {path}: chmod 600 {path}", err=True)
    return path.expanduser().absolute()


def _text_in(path: Path) -> str:
    try:
        return path.expanduser().read_text(encoding="utf-8").strip()
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(
            f"The file {path} cannot be read: {getattr(error, 'strerror', '') or 'it holds no text'}."
        ) from error


def _checked(token: Token, text: str, where: str) -> str:
    if not token.is_one(text):
        raise UsageError(f"What {where} gives is no such token: {token.called} is {token.form}.")
    return text


def _tried(given: Given, at: datetime) -> "Sequence[CheckResult]":
    """Return what the chat said of the tokens; raises TokenError where it did not take one, or was not reached."""
    from adapters.cli.platforms import check_platform
    from bot import log
    from bot.settings.load import secrets_of

    settings = given.settings()
    log.configure("ERROR", "text", secrets_of(settings))
    found = asyncio.run(check_platform(given.chat, getattr(settings, given.chat), at))
    tokens = {token.tried_as: token.setting for token in CHATS[given.chat].tokens}
    for each in found:
        if not each.well and (each.name in tokens or each.fault):
            raise TokenError(f"{each.name}: {each.text}.", tokens.get(each.name, ""), is_untried=each.fault is not None)
    return found


def _again(given: Given, refused: TokenError) -> bool:
    """Say whether to try again, with another token where the chat did not take one; False keeps what was given."""
    if refused.is_untried or refused.setting not in given.secrets:
        return click.confirm("     Try again? Otherwise it is kept, and `broadsheet doctor` tries it later", default=True)
    if not click.confirm("     Give another? Otherwise it is kept, and `broadsheet doctor` tries it later", default=True):
        return False
    token = next(each for each in CHATS[given.chat].tokens if each.setting == refused.setting)
    _ask_token(given, token, "     ")
    return True


def _say(found: "Sequence[CheckResult]") -> None:
    for each in found:
        click.echo(f"     {'ok  ' if each.well else 'mend'}  {each.name}: {each.text}")


# --- what is written, and what comes next


def _write(given: Given, path: Path, at: datetime, *, replace: bool) -> None:
    from bot.settings.first_file import Answers, write_first
    from bot.settings.load import find_file

    given.settings()  # raises before anything is written
    answers = Answers(given.zone, given.topics, given.contact, given.secrets)
    aside = write_first(path, answers.text(), at, replace=replace)
    click.echo(f"Written to {path}, for you alone to read.{f' What was there is in {aside}.' if aside else ''}")
    found = find_file(os.environ)
    here = "" if found is not None and found.expanduser().absolute() == path.absolute() else f" --config {path}"
    chat = CHATS[given.chat]
    if not chat.tokens:
        click.echo(f"Next: broadsheet{here} collect\nthen: broadsheet{here} digest")
        return
    if given.chat == "discord":
        click.echo(f"First, if the bot is in no server yet: broadsheet{here} discord invite")
    click.echo(f"Next: broadsheet{here} run")
    click.echo(f"then, in a channel of {chat.title}: {chat.then.format(given.topics[0])}")
