"""What comes back by mail, read from one message: bounces (RFC 3464), complaints (RFC 5965), wishes to unsubscribe. Pure.

Anybody may write such a mail: nothing here decides whether it is believed. What is read of it is numbers, identifiers and
addresses; its texts are told to nobody.
"""

import re
from collections.abc import Iterator, Sequence
from email import message_from_bytes
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import parseaddr

from adapters.email.relay.replies import RelayReply, is_of_address, meaning
from bot.handlers.surfaces.returned import Bounce, Complaint, Proof, Returned, UnsubscribeMail
from bot.models import is_address

MOST = 5 * 2**20  # bytes that are read of a message: what is returned with it may be long
_PARTS = 200  # of a message that are looked at
_FIELDS = 100  # recipients of a report that are looked at
_STATUS = re.compile(r"\b([245])\.(\d{1,3})\.(\d{1,3})\b")
_TOKEN = re.compile(r"unsubscribe(?:\s|%20|\+)+([0-9A-Za-z_-]{1,64})\.([0-9A-Za-z_-]{22})(?![0-9A-Za-z_-])", re.IGNORECASE)
_LINK = re.compile(r"/mail/([0-9A-Za-z_-]{1,64})/unsubscribe\?s=([0-9A-Za-z_-]{22})(?![0-9A-Za-z_-])")
# RFC 5965, 3.5, and what providers send; "auth-failure" speaks of signatures, and "not-spam" takes a complaint back.
_COMPLAINTS = frozenset({"abuse", "fraud", "virus", "opt-out", "opt-out-list"})
_VAGUE = "5.0.0"  # servers that know no better say what is the matter in words …
# … and these are not the address's, or not for good.
_PASSES = re.compile(
    r"\b552\b|quota|full|exceed|size|large|relay|auth|denied|not permitted|\bspf\b|\bdkim\b|block|black|spam", re.IGNORECASE
)
_NO_ROUTE = "5.4.4"
_RETURNED = frozenset({"message/rfc822", "message/global", "message/rfc822-headers", "text/rfc822-headers"})


def read(raw: bytes, domain: str) -> Returned | None:
    """Return what one message says, None where it is nothing that is understood; `domain` is that of our own sender."""
    try:
        message = message_from_bytes(raw[:MOST])
        parts = _parts(message)
        proofs = _proofs(parts, raw[:MOST], domain)
        if (complaint := _complaint(parts, proofs)) is not None:
            return complaint
        if (bounce := _bounce(parts, proofs)) is not None:
            return bounce
        return _wish(message, parts)
    except (MessageError, LookupError, ValueError, TypeError, AttributeError, RecursionError):
        return None  # the library raises them for what nobody writes by accident


def _parts(message: Message) -> Sequence[Message]:
    found = []
    for part in message.walk():
        found.append(part)
        if len(found) >= _PARTS:
            break
    return found


def _proofs(parts: Sequence[Message], raw: bytes, domain: str) -> tuple[Proof, ...]:
    """Return what of mails of ours is returned: identifiers, and the tokens of their way to unsubscribe."""
    returned = [text for part in parts if part.get_content_type() in _RETURNED for text in _headers(part)]
    # Some return it as plain text, or cut: there the identifier is looked for in all of it.
    whole = raw.decode("latin-1")
    ours = re.compile(rf"<([0-9a-z]{{1,64}})@{re.escape(domain)}>", re.IGNORECASE)
    deliveries = dict.fromkeys(each.lower() for text in [*returned, whole] for each in ours.findall(text))
    unfolded = re.sub(r"=?\r?\n[ \t]?", "", "\n".join([*returned, whole]))
    tokens = dict.fromkeys([*_TOKEN.findall(unfolded), *_LINK.findall(unfolded)])
    return (*(Proof(delivery=each) for each in list(deliveries)[:_FIELDS]), *_signed(list(tokens)[:_FIELDS]))


def _signed(tokens: Sequence[tuple[str, str]]) -> tuple[Proof, ...]:
    return tuple(Proof(subscription=subscription, signature=signature) for subscription, signature in tokens)


def _headers(part: Message) -> Iterator[str]:
    """Yield the headers of a returned message."""
    held = part.get_payload()
    inner = [each for each in held if isinstance(each, Message)] if isinstance(held, list) else []
    if not inner:
        text = part.get_payload(decode=True)
        yield text.decode("latin-1") if isinstance(text, bytes) else str(held)
    for each in inner:
        yield "\n".join(f"{name}: {value}" for name, value in each.items())


# --- complaints


def _complaint(parts: Sequence[Message], proofs: tuple[Proof, ...]) -> Complaint | None:
    for part in parts:
        if part.get_content_type() == "message/feedback-report":
            kind = _field(part, "Feedback-Type").lower()
            return Complaint(proofs, _complained_of(part, parts)) if kind in _COMPLAINTS else None
    return None


def _complained_of(report: Message, parts: Sequence[Message]) -> tuple[str, ...]:
    """Return to whom the mail was sent that a complaint is about, by the report and by the mail; providers hide it often."""
    returned = [text for part in parts if part.get_content_type() in _RETURNED for text in _headers(part)]
    sent = [each for text in returned for each in re.findall(r"^To:(.*)$", text, re.MULTILINE | re.IGNORECASE)]
    said = [_field(report, "Original-Rcpt-To"), _field(report, "Removal-Recipient"), *sent]
    addresses = [parseaddr(each.strip())[1] for each in said[:_FIELDS]]
    return tuple(dict.fromkeys(each for each in addresses if is_address(each)))


def _field(part: Message, name: str) -> str:
    """Return a field of a report, whether the library took its body for a message or for text."""
    held = part.get_payload()
    for each in held if isinstance(held, list) else ():
        if isinstance(each, Message) and each[name]:
            return str(each[name]).strip()
    text = held if isinstance(held, str) else ""
    found = re.search(rf"^{re.escape(name)}:\s*(\S+)", text, re.MULTILINE | re.IGNORECASE)
    return found[1] if found else ""


# --- bounces


def _bounce(parts: Sequence[Message], proofs: tuple[Proof, ...]) -> Bounce | None:
    """Return the worst that a report says of any recipient; None where it only tells of a delay, or of a delivery."""
    failed = [each for part in parts if part.get_content_type() == "message/delivery-status" for each in _recipients(part)]
    failed = [each for each in failed[:_FIELDS] if _is_failure(each)]
    if not failed:
        return None
    worst = next((each for each in failed if _is_hard(each)), failed[0])
    status = _status(worst)
    said = f"A mail came back: {meaning(RelayReply(int(status[0]) * 100, status))} ({status})."
    addresses = [address for each in (worst, *failed) for address in _addresses(each)]
    return Bounce(proofs, tuple(dict.fromkeys(addresses)), said, _is_hard(worst))


def _recipients(part: Message) -> Iterator[Message]:
    """Yield the fields of each recipient of a report (RFC 3464, 2.3)."""
    held = part.get_payload()
    for each in held if isinstance(held, list) else ():
        if isinstance(each, Message) and (each["Final-Recipient"] or each["Original-Recipient"]):
            yield each


def _is_failure(fields: Message) -> bool:
    action = str(fields["Action"] or "").strip().lower()
    # RFC 3464, 2.3.3, has five; OpenSMTPD says "error", others nothing.
    is_known = action.startswith(("delay", "deliver", "relay", "expand"))
    return action.startswith("fail") or (not is_known and _status(fields).startswith("5"))


def _status(fields: Message) -> str:
    """Return the status, from what the other server said where that says more; "5.0.0" where there is none."""
    found = _STATUS.search(str(fields["Status"] or ""))
    status = found[0] if found else _VAGUE
    said = _STATUS.search(str(fields["Diagnostic-Code"] or ""))
    vague = status.endswith(".0.0")
    return said[0] if vague and said is not None and said[1] == status[0] else status


def _is_hard(fields: Message) -> bool:
    """Say whether a failure is the address's for good; what speaks of the message, of us or of the way is not."""
    status = _status(fields)
    if not status.startswith("5"):
        return False
    if status == _VAGUE:
        return _PASSES.search(f"{fields['Status']} {fields['Diagnostic-Code']}") is None
    return is_of_address(status) or status == _NO_ROUTE


def _addresses(fields: Message) -> Iterator[str]:
    """Yield the addresses of a recipient: that to which it was sent first, and that where it ended."""
    for name in ("Original-Recipient", "Final-Recipient"):
        text = str(fields[name] or "").rpartition(";")[2].strip().strip("<>").removeprefix("SMTP:")
        address = parseaddr(text)[1]
        if is_address(address):
            yield address


# --- wishes


def _wish(message: Message, parts: Sequence[Message]) -> UnsubscribeMail | None:
    """Return that the subject, or the first line of the text, is a token; what only quotes one wishes nothing."""
    if _is_automatic(message):
        return None
    subject = str(make_header(decode_header(str(message["Subject"] or ""))))
    texts = (_text(part) for part in parts[:10] if part.get_content_type() == "text/plain")
    first = next((line.strip() for line in next(texts, "").splitlines() if line.strip()), "")
    found = _TOKEN.search(subject) or _TOKEN.fullmatch(first)
    return None if found is None else UnsubscribeMail(_signed([(found[1], found[2])]))


def _is_automatic(message: Message) -> bool:
    """Say whether a server or a program wrote it, about a mail of ours (RFC 5321, 4.5.5; RFC 3834, 5)."""
    says = str(message["Auto-Submitted"] or "no").partition(";")[0].strip().lower()
    is_report = message.get_content_type() == "multipart/report"
    return is_report or says != "no" or str(message["Return-Path"] or "").strip() == "<>"


def _text(part: Message) -> str:
    held = part.get_payload(decode=True)
    return held[:10_000].decode("latin-1") if isinstance(held, bytes) else ""
