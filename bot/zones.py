"""The time zones that people type, found in the IANA database. Its files are read when first used."""

import difflib
import functools
import os
import re
import unicodedata
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from zoneinfo import available_timezones

from bot.errors import UsageError

# Abbreviations say an offset, and most of them several: each with the places that most who type it mean.
_ABBREVIATIONS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("cet", "cest", "met", "mest", "mez", "mesz"), ("Europe/Berlin", "Europe/Paris", "Europe/Zurich")),
    **dict.fromkeys(("eet", "eest"), ("Europe/Athens", "Europe/Helsinki", "Europe/Kyiv")),
    **dict.fromkeys(("wet", "west"), ("Europe/Lisbon", "Atlantic/Canary")),
    "bst": ("Europe/London", "Asia/Dhaka"),
    **dict.fromkeys(("est", "edt", "et", "est5edt"), ("America/New_York", "America/Toronto", "America/Panama")),
    **dict.fromkeys(("cst", "cdt", "ct", "cst6cdt"), ("America/Chicago", "America/Mexico_City", "Asia/Shanghai")),
    **dict.fromkeys(("mst", "mdt", "mt", "mst7mdt"), ("America/Denver", "America/Phoenix")),
    **dict.fromkeys(("pst", "pdt", "pt", "pst8pdt"), ("America/Los_Angeles", "America/Vancouver")),
    **dict.fromkeys(("akst", "akdt"), ("America/Anchorage",)),
    "hst": ("Pacific/Honolulu",),
    "ist": ("Asia/Kolkata", "Europe/Dublin", "Asia/Jerusalem"),
    "msk": ("Europe/Moscow",),
    "jst": ("Asia/Tokyo",),
    "kst": ("Asia/Seoul",),
    "hkt": ("Asia/Hong_Kong",),
    "sgt": ("Asia/Singapore",),
    **dict.fromkeys(("aest", "aedt"), ("Australia/Sydney", "Australia/Brisbane")),
    **dict.fromkeys(("acst", "acdt"), ("Australia/Adelaide", "Australia/Darwin")),
    "awst": ("Australia/Perth",),
    **dict.fromkeys(("nzst", "nzdt"), ("Pacific/Auckland",)),
    "brt": ("America/Sao_Paulo",),
    "gmt": ("Europe/London", "Africa/Abidjan"),
}
# Places after which no zone is named, with the one that holds there.
_PLACES: Mapping[str, str] = {
    **dict.fromkeys(("san francisco", "seattle", "san diego", "palo alto", "silicon valley"), "America/Los_Angeles"),
    **dict.fromkeys(("boston", "washington", "washington dc", "philadelphia", "atlanta", "miami"), "America/New_York"),
    **dict.fromkeys(("pittsburgh", "princeton", "nyc", "ottawa"), "America/New_York"),
    **dict.fromkeys(("austin", "dallas", "houston"), "America/Chicago"),
    **dict.fromkeys(("munich", "munchen", "hamburg", "cologne", "frankfurt", "tubingen", "saarbrucken"), "Europe/Berlin"),
    **dict.fromkeys(("geneva", "lausanne", "basel", "bern"), "Europe/Zurich"),
    **dict.fromkeys(("grenoble", "lyon", "toulouse"), "Europe/Paris"),
    **dict.fromkeys(("milan", "turin", "pisa"), "Europe/Rome"),
    **dict.fromkeys(("barcelona", "valencia"), "Europe/Madrid"),
    **dict.fromkeys(("edinburgh", "cambridge uk", "oxford", "manchester"), "Europe/London"),
    **dict.fromkeys(("delft", "eindhoven", "utrecht", "rotterdam"), "Europe/Amsterdam"),
    "gothenburg": "Europe/Stockholm",
    "germany": "Europe/Berlin",  # its second zone is one village in Switzerland
    **dict.fromkeys(("bangalore", "bengaluru", "mumbai", "delhi", "new delhi", "hyderabad", "chennai"), "Asia/Kolkata"),
    **dict.fromkeys(("beijing", "shenzhen", "hangzhou", "guangzhou"), "Asia/Shanghai"),
    **dict.fromkeys(("osaka", "kyoto"), "Asia/Tokyo"),
    "tel aviv": "Asia/Jerusalem",
    "abu dhabi": "Asia/Dubai",
    "rio de janeiro": "America/Sao_Paulo",
}
_OFFSET = re.compile(r"(?:utc|gmt|z)?\s*([+\-−–]\s*\d{1,2})(?::?([0-5]\d))?")
_OF_TIME = re.compile(r"(?: local)? time$")  # "Paris time" is the time of Paris
_UTC = frozenset({"utc", "z", "zulu", "universal", "gmt+0", "utc+0", "utc-0"})
_SHOWN = 4


def resolve(text: str) -> str:
    """Return the IANA name of the zone that is meant: "Europe/Zurich" for "europe/zurich" or "Zürich".

    Raises UsageError with zones to choose from for an abbreviation ("CET"), an offset ("UTC+2"), a country with several
    zones, and for what is not known.
    """
    typed = " ".join(text.split())
    folded = _OF_TIME.sub("", _fold(typed))
    if folded in _UTC:
        return "UTC"
    if folded in _ABBREVIATIONS:
        raise UsageError(
            f"{typed} stands for an offset, not for a place, and offsets change with the season.",
            hint=f"Name a place: {_either(_ABBREVIATIONS[folded])}.",
        )
    if offset := _OFFSET.fullmatch(typed.casefold()):
        raise _of_offset(typed, offset)
    names = _index()
    place = (_PLACES[folded],) if folded in _PLACES else ()
    found = place or _countries().get(folded, ()) or names.get(folded, ())
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{typed} has several time zones.", hint=f"Name one: {_either(found)}.")
    raise UsageError(f'The time zone "{typed[:60]}" is not known.', hint=_nearest(folded, names))


def of_machine(environ: Mapping[str, str], link: Path = Path("/etc/localtime")) -> str:
    """Return the zone that this machine keeps: that of $TZ, else what /etc/localtime leads to; UTC where neither tells."""
    named = environ.get("TZ", "").lstrip(":") or os.path.realpath(link).partition("zoneinfo/")[2]
    try:
        zone = resolve(named.removeprefix("posix/").removeprefix("right/")) if named else "UTC"
    except UsageError:
        return "UTC"
    return "UTC" if zone == "Etc/UTC" else zone


def beginning(typed: str, limit: int = 25) -> tuple[str, ...]:
    """Return zones of which the name, or its last part, begins as typed; the places of that name first."""
    folded = _fold(typed)
    if not folded:
        return tuple(sorted(_placed(), key=lambda zone: (not zone.startswith(("America/", "Asia/", "Europe/")), zone)))[
            :limit
        ]
    known = [(name, zone) for name, zones in sorted(_index().items()) for zone in zones if zone in _placed()]
    return tuple(dict.fromkeys(zone for name, zone in (*known, *_PLACES.items()) if name.startswith(folded)))[:limit]


def _of_offset(typed: str, offset: re.Match[str]) -> UsageError:
    hours = int(re.sub(r"[−–]", "-", offset[1]).replace(" ", ""))
    fixed = ""
    if not int(offset[2] or 0) and -12 <= hours <= 14:
        # POSIX counts westwards: Etc/GMT-2 is two hours ahead of UTC (tz database, file "etcetera").
        fixed = f" For a clock that never changes there is {f'Etc/GMT{-hours:+d}' if hours else 'UTC'}."
    return UsageError(
        f"{typed} is an offset, which no place keeps all year where clocks change.",
        hint=f"Name a place, such as Europe/Zurich or New York.{fixed}",
    )


def _either(zones: tuple[str, ...]) -> str:
    more = " …" if len(zones) > _SHOWN else ""
    return ", ".join(zones[:_SHOWN]) + more


def _nearest(folded: str, names: Mapping[str, tuple[str, ...]]) -> str:
    near = difflib.get_close_matches(folded[:60], names, n=2, cutoff=0.75)
    zones = tuple(dict.fromkeys(zone for name in near for zone in names[name]))
    return f"Did you mean {_either(zones)}?" if zones else "Name a place, such as Europe/Zurich or New York."


def _fold(text: str) -> str:
    plain = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return " ".join(re.sub(r"[_\s]+", " ", plain.casefold()).split())


@functools.cache
def _names() -> frozenset[str]:
    return frozenset(available_timezones()) - {"localtime", "posixrules", "Factory"}


@functools.cache
def _index() -> Mapping[str, tuple[str, ...]]:
    """Every zone by its whole name and by its last part, folded; places before the zones of the past (US/Eastern)."""
    index: dict[str, tuple[str, ...]] = {}
    for name in sorted(_names(), key=lambda name: (name not in _placed(), name)):
        whole, last = _fold(name), _fold(name.rpartition("/")[2])
        index.setdefault(whole, (name,))
        if "/" in name and not name.startswith(("Etc/", "SystemV/")) and last not in index:
            index[last] = (name,)
    return index


@functools.cache
def _table(name: str) -> tuple[tuple[str, ...], ...]:
    lines = (files("tzdata") / "zoneinfo" / name).read_text("utf-8").splitlines()
    return tuple(tuple(line.split("\t")) for line in lines if line and not line.startswith("#"))


@functools.cache
def _placed() -> frozenset[str]:
    """The zones that belong to a country today."""
    return frozenset(row[2] for row in _table("zone.tab"))


@functools.cache
def _countries() -> Mapping[str, tuple[str, ...]]:
    """The zones of each country, by its folded English name and by its code of two letters."""
    zones: dict[str, tuple[str, ...]] = {}
    for row in _table("zone.tab"):
        zones[row[0]] = (*zones.get(row[0], ()), row[2])
    named = {_fold(name): zones[code] for code, name in _table("iso3166.tab") if code in zones}
    common = {"usa": "US", "uk": "GB", "united kingdom": "GB", "england": "GB", "south korea": "KR", "korea": "KR"}
    return named | {name: zones[code] for name, code in common.items()}
