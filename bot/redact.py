"""Keep secrets out of every text that a person or a log may see."""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

MARK = "[hidden]"

# Names under which services take credentials in a query string or in a header.
_NAMES = (
    r"(?:[\w.-]*(?:token|secret|passw(?:or)?d|passphrase|signature|credential|api[-_]?key|access[-_]?key|auth[-_]?key)"
    r"|key|auth|authorization|sig|pwd|code|session|sessionid|jwt|ticket)"
)
_QUERY = re.compile(rf"(?i)([?&;]{_NAMES}=)[^&;#\s\"'<>]+")
_USERINFO = re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://)[^/?#\s@\"'<>]+@")
# After the other words a credential has a digit, so that "basic understanding" stays.
_SCHEME = re.compile(r"(?i)\b(bearer|(?:basic|token|bot)(?=\s+\S*\d))\s+[\w.~+/=:-]{8,}")
# What credentials look like wherever they stand: Slack's (xoxe.xoxb- while they are rotated, xwfp- of a workflow's step),
# GitHub's, Hugging Face's and OpenAI-like services' keys, our tokens of assistants, JSON web tokens; and Discord's: three
# parts in base64url, of which the first is an identifier in figures, and so begins with M, N or O.
_SHAPES = re.compile(
    r"\bxox[a-z](?:\.xox[a-z])?-[\w-]+|\bx(?:app|wfp)-[\w-]+|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bhf_\w{20,}|\bbsm_\w{20,}|\bsk-[\w-]{16,}"
    r"|\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}|\b[MNO][\w-]{20,35}\.[\w-]{5,8}\.[\w-]{25,60}"
)
# E-mail addresses (RFC 5322's dot-atoms), each looked for where a run of its signs begins.
_ADDRESS = re.compile(r"(?<![\w.!#$%&'*+/=?^`{|}~-])[\w.!#$%&'*+=?^`{|}~-]{1,64}@(?:[\w-]{1,63}\.){1,10}[^\W_]{2,24}\b")
_SECRET_HEADER = re.compile(rf"(?i)^(?:x-)?(?:cookie|proxy-authorization|{_NAMES})$")
_SHORTEST = 4  # a shorter "secret" would tear holes into ordinary words


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """Return `text` without credentials, the given secrets and e-mail addresses: for a log."""
    text = without_credentials(text, secrets)
    return _ADDRESS.sub(MARK, text) if "@" in text else text


def without_credentials(text: str, secrets: Iterable[str] = ()) -> str:
    """Return `text` without URL user information, credential parameters, bearer tokens and the given secrets."""
    for secret in sorted({part for whole in secrets for part in (whole, *whole.split()[1:])}, key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, MARK)
    text = _SHAPES.sub(MARK, text)
    text = _USERINFO.sub(rf"\1{MARK}@", text)
    text = _QUERY.sub(rf"\1{MARK}", text)
    return _SCHEME.sub(rf"\1 {MARK}", text)


def is_secret_header(name: str) -> bool:
    """Tell whether the header's value is a credential."""
    return _SECRET_HEADER.match(name) is not None


def secrets_in(url: str) -> tuple[str, ...]:
    """Return the user information of a URL, which libraries may quote in their own words."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ()
    return tuple(part for part in (parts.password, parts.username) if part)
