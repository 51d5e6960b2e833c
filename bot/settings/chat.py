"""What may stand in the sections of the chat platforms, with its default."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, model_validator

from bot.settings.sections import Host, Section, Url

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


def _guarded(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("https", "wss") and parts.hostname not in LOOPBACK:
        raise ValueError("must begin with https:// (or wss://) unless it is on this machine: the token is sent there")
    return value


TokenUrl = Annotated[Url, AfterValidator(_guarded)]


def _gateway(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("ws", "wss") or not parts.hostname or parts.username or parts.password:
        raise ValueError("must be an address that begins with wss://")
    return _guarded(value.rstrip("/"))


class SlackSettings(Section):
    """How to be in Slack; on as soon as `bot_token` or `client_id` is set."""

    mode: Literal["socket", "http"] = "socket"
    bot_token: SecretStr = SecretStr("")  # xoxb-…, of the one workspace; with OAuth there is one for each
    app_token: SecretStr = SecretStr("")  # xapp-…, for the socket
    signing_secret: SecretStr = SecretStr("")  # for HTTP
    client_id: str = ""  # for OAuth
    client_secret: SecretStr = SecretStr("")
    encryption_keys: SecretStr = SecretStr("")  # the newest first, by white space or commas: older ones still open
    host: Host = "127.0.0.1"
    port: int = Field(default=3000, ge=0, le=65_535)
    public_url: str = ""  # where Slack and browsers reach host and port: https://digest.example.org
    layout: Literal["", "message", "thread"] = ""  # retired: digest.layout stands in its place
    join_channels: bool = True
    reactions: bool = False
    link_previews: bool = False
    agent: bool = False  # in Slack's pane for agents, where every conversation is a thread
    workflow_steps: bool = False  # offer steps to Workflow Builder
    api_url: TokenUrl = "https://slack.com/api"

    @property
    def enabled(self) -> bool:
        """Whether anything is configured."""
        return bool(self.bot_token.get_secret_value() or self.client_id)


DISCORD_ADDRESSES = ("https://discord.com/api/v10", "wss://gateway.discord.gg", "https://cdn.discordapp.com")


class DiscordSettings(Section):
    """How to be in Discord; on as soon as `token` is set."""

    token: SecretStr = SecretStr("")
    interactions: Literal["gateway", "http"] = "gateway"  # how commands, buttons and forms are heard
    public_key: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")  # of the application, for HTTP
    host: Host = "127.0.0.1"  # for HTTP
    port: int = Field(default=3020, ge=0, le=65_535)
    public_url: str = ""  # where Discord reaches host and port: https://digest.example.org
    shards: int = Field(default=0, ge=0, le=10_000)  # 0: as many as Discord recommends
    address: str = Field(default="", max_length=100)  # a name for that of this machine, which others may share; "": its own
    development_guild: str = Field(default="", pattern=r"^\d*$")  # commands are synced to this server alone
    manage: Literal["anyone", "admins"] = "admins"  # where a server has not settled it; admins may manage the channel
    threads: bool = False  # retired: digest.layout stands in its place
    reactions: bool = False
    link_previews: bool = False
    mentions: bool = False  # answer who mentions the bot, and who writes to it directly
    user_install: bool = False  # offer search, show and Find similar to people who install the bot for themselves
    api_url: TokenUrl = DISCORD_ADDRESSES[0]
    gateway_url: Annotated[str, AfterValidator(_gateway)] = DISCORD_ADDRESSES[1]
    cdn_url: Url = DISCORD_ADDRESSES[2]

    @property
    def enabled(self) -> bool:
        """Whether anything is configured."""
        return bool(self.token.get_secret_value())

    @model_validator(mode="after")
    def _is_one_service(self) -> "DiscordSettings":
        own = [
            mine != usual
            for mine, usual in zip((self.api_url, self.gateway_url, self.cdn_url), DISCORD_ADDRESSES, strict=True)
        ]
        if any(own) and not all(own):
            raise ValueError("api_url, gateway_url and cdn_url belong together: set all of them, or none")
        return self
