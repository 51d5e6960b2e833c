"""What a digest leaves out although it is on topic, and what of it stays a candidate of the next ones. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from bot.digest.selection import CAP, SCORE, TWIN, Selection, least
from bot.models import Digest, DigestRequest, LeftOut, PastDigest, Ranked

MOST = 100  # works that are listed for a digest, the best: nobody reads on
# What missed what was asked for by no more than so much of it came close.
CLOSE = 0.25

# What fell to the cap stays a candidate for three days: Friday's for Monday's digest. The half day is for one that is late.
DAYS = timedelta(days=3)
LATE = timedelta(hours=12)


def how_many(digest: Digest | PastDigest) -> str:
    """Return how many works the digest left out: "8", "1,204"; "100+" of one of before, which counted no more."""
    listed = len(digest.left_out)
    return f"{digest.others:,}" if digest.others else f"{listed}{'+' if listed >= MOST else ''}"


def came_close(had: float, asked: float) -> bool:
    """Say whether what had so much relevance only just missed what was asked for."""
    return had >= asked * (1 - CLOSE)


def left_out(
    request: DigestRequest,
    selection: Selection,
    arrivals: Mapping[str, int],
    carried: Mapping[str, LeftOut],
    now: datetime,
) -> tuple[LeftOut, ...]:
    """Return what is on topic and has no place in the digest: what passed and found none, then what came close; best first.

    `arrivals` are those of the items by key, `carried` what was over the cap before, by the key that it has now.
    """
    chosen = {card.ranked.item.key for card in selection.cards}
    noted = []
    for place, card in enumerate(selection.passed, 1):
        item = card.ranked.item
        if item.key in chosen:
            continue
        reason, before = selection.dropped[item.key], carried.get(item.key)
        noted.append(
            LeftOut(
                item.key,
                reason,
                place,
                card.ranked.score,
                card.ranked.relevance,
                other=card.partner.key if card.partner else "",
                since=(before.since if before else now) if reason == CAP else None,
                arrival=arrivals.get(item.key, 0),
            )
        )
    close = [each for each in selection.ranked if _only_just_missed(each, selection, request)]
    for place, each in enumerate(close, len(selection.passed) + 1):
        key = each.item.key
        noted.append(LeftOut(key, selection.dropped[key], place, each.score, each.relevance, arrival=arrivals.get(key, 0)))
    return tuple(noted)


def _only_just_missed(each: Ranked, selection: Selection, request: DigestRequest) -> bool:
    return selection.dropped.get(each.item.key) == SCORE and came_close(each.relevance, least(request))


def still_candidates(
    past: Sequence[PastDigest], baseline: datetime | None, now: datetime, *, made_arrival: int = 0
) -> dict[str, LeftOut]:
    """Return what fell to the cap of the topic's past digests, the last first, and is looked at again, by key.

    It counts from the first digest that left it out, if that was made since the baseline: what a pause leaves out stays out.
    So does what came in before the subscription was made, up to `made_arrival`: a digest on request may have reached back to
    it. What gave way to a near twin since is told there, and comes no more.
    """
    latest: dict[str, LeftOut] = {}
    for digest in past:
        for each in digest.left_out:
            if each.reason in (CAP, TWIN):
                latest.setdefault(each.key, each)
    since = {key: each for key, each in latest.items() if each.arrival > made_arrival or not made_arrival}
    return {key: each for key, each in since.items() if _is_candidate(each, baseline, now)}


def _is_candidate(each: LeftOut, baseline: datetime | None, now: datetime) -> bool:
    if each.since is None or (baseline is not None and each.since < baseline <= now):
        return False
    return abs(now - each.since) <= DAYS + LATE  # also where the clock was set back
