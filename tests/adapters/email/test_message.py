"""What goes out is one message that every server takes, whatever stands in its texts."""

import re
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage

from hypothesis import given
from hypothesis import strategies as st

from adapters.email.message import OutgoingMail, Unsubscribing, as_bytes, list_id
from tests.conftest import NOW
from tests.fakes.smtp import faults_of

MAIL = OutgoingMail(
    number="abc123",
    sender=("Broadsheet", "papers@lab.example"),
    recipient="me@lab.example",
    subject="GPU systems: 2-minute video in 4 GB of KV cache, +3",
    text="First line\nSecond line\n",
    html="<p>First line</p>",
    list_id=list_id("gpu-systems", "slack:T1", "lab.example"),
    unsubscribing=Unsubscribing("https://papers.lab.example/mail/s1/unsubscribe?s=x", "inbox@lab.example", "s1.x"),
)


def read(mail: OutgoingMail) -> EmailMessage:
    return message_from_bytes(as_bytes(mail, NOW), policy=policy.default)


def test_its_headers_say_who_sends_what_and_how_to_end_it() -> None:
    found = read(MAIL)
    assert found["Message-ID"] == "<abc123@lab.example>"
    assert found["From"] == "Broadsheet <papers@lab.example>"
    assert found["To"] == "me@lab.example"
    assert found["Date"].datetime == NOW
    assert found["Auto-Submitted"] == "auto-generated"
    assert re.fullmatch(r"<gpu-systems\.[0-9a-f]{8}\.lab\.example>", found["List-Id"])
    assert found["List-Unsubscribe"] == (
        "<https://papers.lab.example/mail/s1/unsubscribe?s=x>, <mailto:inbox@lab.example?subject=unsubscribe%20s1.x>"
    )
    assert found["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert [part.get_content_type() for part in found.iter_parts()] == ["text/plain", "text/html"]


@given(st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")) | st.just(" "), max_size=180))
def test_a_subject_is_read_as_it_was_written_whatever_its_length_and_its_signs(subject: str) -> None:
    wanted = " ".join(subject.split()).replace("=?", "= ?")
    raw = as_bytes(replace(MAIL, subject=wanted), NOW)
    assert message_from_bytes(raw, policy=policy.default)["Subject"] == wanted
    lines = raw.partition(b"\r\nSubject: ")[2].partition(b"\r\nFrom: ")[0].split(b"\r\n")
    assert max(map(len, lines)) <= 76


def test_without_pages_it_ends_by_mail_and_without_an_inbox_by_the_chat_alone() -> None:
    by_mail = read(replace(MAIL, unsubscribing=replace(MAIL.unsubscribing, url="")))
    assert by_mail["List-Unsubscribe"].startswith("<mailto:")
    assert by_mail["List-Unsubscribe-Post"] is None
    plain = read(replace(MAIL, unsubscribing=Unsubscribing()))
    assert plain["List-Unsubscribe"] is None


def test_a_page_that_is_not_encrypted_is_offered_without_one_click() -> None:
    here = read(replace(MAIL, unsubscribing=Unsubscribing("http://127.0.0.1:3010/mail/s1/unsubscribe?s=x")))
    assert here["List-Unsubscribe"]
    assert here["List-Unsubscribe-Post"] is None


def test_one_click_is_promised_only_where_its_address_stands() -> None:
    long = read(replace(MAIL, unsubscribing=replace(MAIL.unsubscribing, url=f"https://papers.lab.example/{'x' * 900}")))
    assert long["List-Unsubscribe"].startswith("<mailto:")
    assert long["List-Unsubscribe-Post"] is None


def test_two_workspaces_have_two_lists_of_one_topic() -> None:
    assert list_id("kv", "slack:T1", "lab.example") != list_id("kv", "slack:T2", "lab.example")
    assert list_id("Ünï/kv", "slack:T1", "lab.example").startswith("n-kv.")


@given(
    subject=st.text(max_size=300),
    text=st.text(max_size=2000),
    html=st.text(max_size=2000),
    name=st.text(max_size=60),
)
def test_nothing_in_it_ends_a_header_or_a_line_where_it_should_not(subject: str, text: str, html: str, name: str) -> None:
    mail = replace(MAIL, subject=subject, text=text, html=html or "x", sender=(name, "papers@lab.example"))
    raw = as_bytes(mail, NOW)
    assert faults_of(raw) == []
    found = read(mail)
    names = [key.lower() for key in found.keys()]  # noqa: SIM118
    assert sorted(names) == sorted(set(names))
    assert set(names) == {
        *("from", "to", "subject", "date", "message-id", "mime-version", "content-type", "auto-submitted", "list-id"),
        *("x-auto-response-suppress", "list-unsubscribe", "list-unsubscribe-post"),
    }
    assert found["To"] == "me@lab.example"


def test_hostile_subjects_stay_subjects() -> None:
    for text in ("a\r\nBcc: all@lab.example", "a\nX: y", "a\u2028Bcc: b", "=?utf-8?q?=0D=0ABcc:_x?=", "a\x00b", "\ud800"):
        found = read(replace(MAIL, subject=text))
        assert found["Bcc"] is None
        assert found["X"] is None
        assert "\n" not in found["Subject"]
