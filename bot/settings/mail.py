"""What may stand in the section of e-mail, with its default."""

import re
from email.utils import parseaddr
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr, model_validator

from bot.models import is_address, normal_address
from bot.settings.chat import LOOPBACK
from bot.settings.sections import Folder, Section

_NO_SENDER = 'must be an address, like papers@lab.example, or a name with one: "Broadsheet <papers@lab.example>"'


def _relay(value: str) -> str:
    if value and not re.fullmatch(r"[\w.:-]+", value, re.ASCII):
        raise ValueError("must be the name or the address of a mail server, like mail.lab.example")
    return value


def _sender(value: str) -> str:
    name, address = parseaddr(value)
    if value and (not is_address(address) or not value.isprintable() or '"' in name):
        raise ValueError(_NO_SENDER)
    return value


def _inbox(value: str) -> str:
    if value and not is_address(value):
        raise ValueError("must be an address, like papers-inbox@lab.example")
    return normal_address(value) if value else ""


class MailSettings(Section):
    """How digests are sent by e-mail; on as soon as `host` and `sender` are set."""

    host: Annotated[str, AfterValidator(_relay)] = ""  # the relay: the server that takes our mails and sends them on
    port: int = Field(default=587, ge=1, le=65_535)
    tls: Literal["starttls", "tls", "off"] = "starttls"
    allow_unencrypted: bool = False  # with `tls = "off"`, for a relay on another machine
    username: str = ""
    password: SecretStr = SecretStr("")
    ca_file: Folder | None = None  # certificates that are trusted besides the machine's own
    sender: Annotated[str, AfterValidator(_sender)] = ""
    inbox: Annotated[str, AfterValidator(_inbox)] = ""  # piped into `broadsheet mail receive`
    domain_minute: int = Field(default=60, ge=1, le=6000)  # mails a minute to the addresses of one domain
    timeout: float = Field(default=12.0, ge=0.1, le=14.0)  # seconds for one mail; a try at a delivery may take 15

    @property
    def enabled(self) -> bool:
        """Whether mails can be sent."""
        return bool(self.host and self.sender)

    @property
    def address(self) -> str:
        """Return the sender's address without a name, as it is kept: the domain in ASCII and lower case."""
        return normal_address(parseaddr(self.sender)[1])

    @property
    def name(self) -> str:
        """Return the sender's name, "" for none."""
        return parseaddr(self.sender)[0]

    @property
    def domain(self) -> str:
        """Return the sender's domain."""
        return self.address.rpartition("@")[2]

    @property
    def returns_to(self) -> str:
        """Return the address to which a mail server sends back what it cannot deliver."""
        return self.inbox or self.address

    @model_validator(mode="after")
    def _is_whole(self) -> "MailSettings":
        if bool(self.host) != bool(self.sender):
            raise ValueError("host and sender belong together: set both, or none")
        if bool(self.username) != bool(self.password.get_secret_value()):
            raise ValueError("username and password belong together: set both, or none")
        return self

    @model_validator(mode="after")
    def _is_encrypted(self) -> "MailSettings":
        if self.tls != "off" or not self.host or self.host in LOOPBACK:
            return self
        if not self.allow_unencrypted:
            raise ValueError(
                'tls = "off" sends what people follow in the clear, and is for a relay on this machine;'
                " allow_unencrypted = true says that it is meant"
            )
        if self.username:
            raise ValueError('tls = "off" would send the password in the clear')
        return self
