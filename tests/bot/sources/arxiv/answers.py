"""Recorded answers of arXiv, and answers in its wire formats made for a case that was never recorded."""

import gzip
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

FOLDER = Path(__file__).parents[3] / "payloads" / "arxiv"


def recorded(name: str) -> bytes:
    """Return the bytes that the server sent."""
    body = (FOLDER / name).read_bytes()
    return gzip.decompress(body) if name.endswith(".gz") else body


def feed(day: str, entries: Sequence[tuple[str, str]], *, made: str = "") -> bytes:
    """Return a feed of `day` (ISO) with (identifier with version, announce type) entries."""
    told = "".join(
        f"""<entry><id>oai:arXiv.org:{number}</id><title>Paper {number}</title>
        <updated>{day}T04:10:00+00:00</updated><link href="https://arxiv.org/abs/{number.split("v")[0]}" rel="alternate"/>
        <summary>arXiv:{number} Announce Type: {kind} \nAbstract: We show {number}.</summary>
        <category term="cs.AI"/><published>{day}T00:00:00-04:00</published>
        <arxiv:announce_type>{kind}</arxiv:announce_type><dc:creator>Ada Lovelace, Alan Turing</dc:creator></entry>"""
        for number, kind in entries
    )
    return f"""<?xml version='1.0' encoding='UTF-8'?>
    <feed xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns:dc="http://purl.org/dc/elements/1.1/"
     xmlns="http://www.w3.org/2005/Atom"><id>http://rss.arxiv.org/atom/cs.AI</id><title>cs.AI updates on arXiv.org</title>
    <updated>{made or f"{day}T04:10:19+00:00"}</updated>{told}</feed>""".encode()


def results(papers: Sequence[tuple[str, str]], total: int | None = None) -> bytes:
    """Return an answer of the API with (identifier, published) papers; `total` is what it says there are."""
    entries = "".join(
        f"""<entry><id>http://arxiv.org/abs/{number}v1</id><title>Paper {number}</title><updated>{published}</updated>
        <summary>We show {number}.</summary><category term="cs.AI" scheme="http://arxiv.org/schemas/atom"/>
        <published>{published}</published><arxiv:primary_category term="cs.AI"/><author><name>Ada Lovelace</name></author>
        </entry>"""
        for number, published in papers
    )
    count = len(papers) if total is None else total
    return f"""<?xml version='1.0' encoding='UTF-8'?>
    <feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom"
     xmlns="http://www.w3.org/2005/Atom"><title>arXiv Query</title>
    <opensearch:totalResults>{count}</opensearch:totalResults>{entries}</feed>""".encode()


def records(papers: Sequence[tuple[str, str]], token: str = "", *, error: str = "") -> bytes:
    """Return an answer of OAI-PMH with (identifier, created) papers."""
    told = "".join(
        f"""<record><header><identifier>oai:arXiv.org:{number}</identifier><datestamp>2026-03-31</datestamp></header>
        <metadata><arXiv xmlns="http://arxiv.org/OAI/arXiv/"><id>{number}</id><created>{created}</created>
        <authors><author><keyname>Lovelace</keyname><forenames>Ada</forenames></author></authors>
        <title>Paper {number}</title>
        <categories>cs.AI</categories><abstract>We show it.</abstract></arXiv></metadata></record>"""
        for number, created in papers
    )
    failed = f'<error code="{error}">{escape(error)}</error>' if error else ""
    more = f"<resumptionToken>{token}</resumptionToken>" if token else ""
    body = f"<ListRecords>{told}{more}</ListRecords>" if not error else ""
    return f'<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">{failed}{body}</OAI-PMH>'.encode()
