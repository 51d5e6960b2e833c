"""A feed as JSON Feed 1.1 (jsonfeed.org/version/1.1). Pure."""

import json
from typing import Any

from adapters.web.feeds.atom import MAKER, moment
from adapters.web.feeds.entries import Feed, FeedEntry

MEDIA_TYPE = "application/feed+json"

_VERSION = "https://jsonfeed.org/version/1.1"


def json_feed(feed: Feed) -> bytes:
    """Return the document, in UTF-8."""
    made = {
        "version": _VERSION,
        "title": feed.title,
        **({"home_page_url": feed.home} if feed.home else {}),
        "description": feed.about,
        "feed_url": feed.address,
        "language": "en",
        "authors": [{"name": MAKER}],
        "items": [_item(each, feed.permalink(each)) for each in feed.entries],
    }
    return json.dumps(made, ensure_ascii=False, indent=1).encode()


def _item(entry: FeedEntry, permalink: str) -> dict[str, Any]:
    made = {
        "id": entry.id,
        "url": permalink or entry.url,
        "external_url": entry.url if permalink else "",
        "title": entry.title,
        "summary": entry.summary,
        "content_html": entry.html,
        "date_published": moment(entry.at),
        "date_modified": moment(entry.at),
        "authors": [{"name": name} for name in entry.authors],
        "tags": list(entry.tags),
    }
    return {name: value for name, value in made.items() if value}
