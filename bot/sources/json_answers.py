"""What a JSON service answers, made safe to look at: its body, its text, its numbers and its times.

The field types here are lenient: what is missing, null or of another type is empty, so that a drift in one optional field
never costs the entry that carries it.
"""

import re
from datetime import UTC, datetime
from json.decoder import JSONDecoder
from json.scanner import py_make_scanner  # type: ignore[attr-defined]  # the one that JSONDecoder has where C is missing
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from bot.errors import SourceChanged

MAX_COUNT = 2**53  # the largest whole number that JSON services can count to without losing one
MAX_TEXT = 20_000  # characters; the longest abstracts have some 6,000
MAX_MANY = 5_000  # elements of a list of texts; the longest author lists have some 3,300

# C0 and C1 control characters but for white space, halves of surrogate pairs, non-characters, and the invisible marks
# that turn the direction of writing around.
_UNWANTED = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\u202a-\u202e\u2066-\u2069\ufeff]"
)
_WEB_PAGE = re.compile(rb"\s*<(?:!doctype|html|head|body|\?xml)", re.IGNORECASE)
_LONG_NUMBER = 18  # digits
# Longer answers are read by the library's parser in Python: that in C lets no other thread run until it has read all, up to
# 100 ms of 8 MB, and keeps the event loop for so long.
_LONG = 2**18  # characters; some milliseconds in C


class _PatientDecoder(JSONDecoder):
    """Reads as its parent does, in Python."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.scan_once = py_make_scanner(self)


def read_json(body: bytes, who: str) -> object:
    """Return the JSON that `body` holds; `who` answered it, for the sentence of the SourceChanged that this raises.

    NaN, infinities and whole numbers of more than 18 digits are read as null.
    """
    try:
        text = body.decode("utf-8-sig", "replace")
        decoder = JSONDecoder if len(text) <= _LONG else _PatientDecoder
        return decoder(parse_constant=lambda _: None, parse_int=_whole).decode(text)
    except (ValueError, RecursionError) as error:
        if not body.strip():
            raise SourceChanged(f"{who} sent an empty answer") from error
        if _WEB_PAGE.match(body):
            raise SourceChanged(f"{who} sent a web page instead of JSON") from error
        raise SourceChanged(f"{who} sent JSON that is broken or cut off") from error


def _whole(digits: str) -> int | None:
    return int(digits) if len(digits) <= _LONG_NUMBER else None


def folded(text: str, longest: int = MAX_TEXT) -> str:
    """Return the text on one line: white space folded, control characters gone, at most `longest` characters."""
    return " ".join(_UNWANTED.sub("", text[: 2 * longest]).split())[:longest].rstrip()


def moment(value: object) -> datetime | None:
    """Return the instant that an ISO 8601 text names, in UTC; without a zone it is taken for UTC. None for all else."""
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value.strip())
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _text(value: object) -> str:
    return folded(value) if isinstance(value, str) else ""


def _texts(value: object) -> tuple[str, ...]:
    found = (_text(one) for one in value[:MAX_MANY]) if isinstance(value, list) else ()
    return tuple(dict.fromkeys(one for one in found if one))


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= MAX_COUNT else None


def _flag(value: object) -> bool:
    return value is True


def _none_if_odd(value: object, read: ValidatorFunctionWrapHandler) -> object:
    try:
        return read(value)
    except ValidationError:
        return None


def objects(value: object) -> list[object]:
    """Return the elements of a list that are JSON objects; nothing when the value is no list."""
    return [one for one in value[:MAX_MANY] if isinstance(one, dict)] if isinstance(value, list) else []


Text = Annotated[str, BeforeValidator(_text)]  # folded; "" when it is none
Texts = Annotated[tuple[str, ...], BeforeValidator(_texts)]  # folded, each once, none of them empty
Count = Annotated[int | None, BeforeValidator(_count)]  # at least 0
Flag = Annotated[bool, BeforeValidator(_flag)]
Moment = Annotated[datetime | None, BeforeValidator(moment)]
IfAny = WrapValidator(_none_if_odd)  # for an object: None when it cannot be read
