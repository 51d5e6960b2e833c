"""The addresses of several feeds as OPML 2.0 (opml.org/spec2.opml), which programs that read feeds take whole. Pure."""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

MEDIA_TYPE = "text/x-opml"


def opml(title: str, feeds: Sequence[tuple[str, str]]) -> bytes:
    """Return the document, in UTF-8; of each feed it is given the title and the address."""
    root = Element("opml", {"version": "2.0"})
    SubElement(SubElement(root, "head"), "title").text = title
    body = SubElement(root, "body")
    for name, address in feeds:
        SubElement(body, "outline", {"type": "rss", "text": name, "title": name, "xmlUrl": address})
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written
