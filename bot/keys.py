"""The one key of a work, read out of the addresses under which people link it.

Everything here is pure and takes foreign text: nothing raises, what is no link or no identifier gives "", None or ().
"""

import contextlib
import re
from collections.abc import Iterator
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

# --- arXiv ---------------------------------------------------------------------------------------------------------
# Identifiers: YYMM.NNNN from April 2007, five digits from January 2015, before that archive(.XX)/YYMMNNN; a version
# may follow (info.arxiv.org/help/arxiv_identifier.html).

_MODERN = r"(?:0[7-9]|[1-9]\d)(?:0[1-9]|1[0-2])\.\d{4,5}"
_ANCIENT = (
    r"(?:acc-phys|adap-org|alg-geom|ao-sci|astro-ph|atom-ph|bayes-an|chao-dyn|chem-ph|cmp-lg|comp-gas|cond-mat|cs|dg-ga"
    r"|funct-an|gr-qc|hep-ex|hep-lat|hep-ph|hep-th|math|math-ph|mtrl-th|nlin|nucl-ex|nucl-th|patt-sol|physics|plasm-ph"
    r"|q-alg|q-bio|quant-ph|solv-int|supr-con)(?:\.[A-Z]{2})?/(?:9[1-9]|0[0-7])(?:0[1-9]|1[0-2])\d{3}"
)
_ID = rf"(?P<id>{_MODERN}|{_ANCIENT})(?:v\d{{1,3}})?"
_ARXIV_BARE = re.compile(rf"(?i)(?:(?:oai:)?arxiv(?:\.org)?:\s*)?{_ID}")
_ARXIV_PATH = re.compile(
    rf"(?i)/(?:abs|pdf|html|format|ps|src|e-print|list|papers|labs/papers|overview|arxiv|paper/arxiv:|arxiv:)/?{_ID}"
    r"(?:\.pdf|\.md)?/?"
)
_ARXIV_DOI = re.compile(rf"(?i)10\.48550/arxiv\.{_ID}")
_ARXIV_IN_TEXT = re.compile(
    rf"(?i)(?:\b(?:arxiv\.org|alphaxiv\.org|huggingface\.co|hf\.co)/(?:abs|pdf|html|papers)/|\barxiv(?:\.org)?:\s*"
    rf"|\b10\.48550/arxiv\.){_ID}(?!\d)"
)
_ARXIV_HOSTS = frozenset(
    {
        "arxiv.org",
        "export.arxiv.org",
        "browse.arxiv.org",
        "ar5iv.org",
        "ar5iv.labs.arxiv.org",
        "alphaxiv.org",
        "huggingface.co",
    }
    | {"hf.co", "scirate.com", "arxiv-vanity.com", "xxx.lanl.gov", "lanl.arxiv.org", "de.arxiv.org", "cn.arxiv.org"}
    | {"semanticscholar.org", "api.semanticscholar.org"}  # by the paper's arXiv number, not by a number of their own
)


def arxiv_id(text: str) -> str | None:
    """Return the arXiv identifier, without version, that the whole text is: bare, prefixed, an address or a DOI."""
    text = text.strip()
    match = _ARXIV_BARE.fullmatch(text) or _ARXIV_DOI.fullmatch(text)
    if match is None and (parts := _split(text)) is not None:
        match = _arxiv_of_address(parts)
    return _canonical(match["id"]) if match else None


def arxiv_ids_in(text: str) -> tuple[str, ...]:
    """Return the arXiv identifiers that running text names by an address, `arXiv:` or a DOI, in order, each once."""
    return tuple(dict.fromkeys(_canonical(match["id"]) for match in _ARXIV_IN_TEXT.finditer(text)))


def _arxiv_of_address(parts: SplitResult) -> re.Match[str] | None:
    host = _host(parts)
    if host in ("doi.org", "dx.doi.org"):
        return _ARXIV_DOI.fullmatch(unquote(parts.path).strip("/"))
    return _ARXIV_PATH.fullmatch(unquote(parts.path)) if host in _ARXIV_HOSTS else None


def _canonical(identifier: str) -> str:
    """`math.GT/0309136` is filed as `math/0309136`."""
    archive, slash, number = identifier.lower().partition("/")
    return archive.partition(".")[0] + slash + number if slash else identifier


# --- DOI -----------------------------------------------------------------------------------------------------------

_DOI = re.compile(r"(?i)(?:doi:\s*)?(?P<doi>10\.\d{4,9}/[^\s\"<>]+)")
_DOI_PATH = re.compile(r"(?i)/(?:doi|content)/(?:(?:abs|full|pdf|epdf|pdfdirect|reader)/)?(?P<doi>10\.\d{4,9}/[^\s\"<>]+)")
_PREPRINT_TAIL = re.compile(r"(?i)v\d+(?:\.(?:full|abstract|supplementary-material))*(?:\.pdf|-text|\+html)?$")


def doi(text: str) -> str | None:
    """Return the DOI, in lower case, that the whole text is: bare, `doi:…`, or an address that carries it."""
    text = text.strip()
    match = _DOI.fullmatch(text)
    if match is None and (parts := _split(text)) is not None:
        path = unquote(parts.path)
        match = _DOI.fullmatch(path.strip("/")) if _host(parts) in ("doi.org", "dx.doi.org") else _DOI_PATH.fullmatch(path)
        if match and _host(parts) in ("biorxiv.org", "medrxiv.org"):
            return _PREPRINT_TAIL.sub("", match["doi"]).lower()
    return match["doi"].rstrip(".,;:/").lower() if match else None


# --- GitHub --------------------------------------------------------------------------------------------------------

_OWNER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})")
_NAME = re.compile(r"[\w.-]{1,100}", re.ASCII)
_GITHUB_IN_TEXT = re.compile(r"(?i)\bgithub\.com/([a-z0-9-]{1,39})/([a-z0-9_.-]{1,100})")
_NO_OWNER = re.compile(
    r"(?i)about|account|apps|blog|codespaces|collections|contact|customer-stories|dashboard|enterprise|events|explore|features"
    r"|gist|issues|join|login|logout|marketplace|mobile|new|notifications|organizations|orgs|pricing|pulls|readme|search"
    r"|security|sessions|settings|signup|site|solutions|sponsors|stars|team|teams|topics|trending|users|watching"
)


def github_repo(url: str) -> str | None:
    """Return `owner/name`, in lower case, of the repository that an address lies in."""
    parts = _split(url)
    if parts is None or _host(parts) != "github.com":
        return None
    pieces = [unquote(piece) for piece in parts.path.split("/") if piece]
    return _repo(pieces[0], pieces[1]) if len(pieces) >= 2 else None


def github_repos_in(text: str) -> tuple[str, ...]:
    """Return the repositories that running text links, as `owner/name` in lower case, in order, each once."""
    found = (_repo(match[1], match[2].rstrip(".")) for match in _GITHUB_IN_TEXT.finditer(text))
    return tuple(dict.fromkeys(repo for repo in found if repo))


def github_owner(text: str) -> str | None:
    """Return, in lower case, the name that a person or an organisation may have on GitHub; None for what none can have."""
    return text.lower() if _OWNER.fullmatch(text) and not _NO_OWNER.fullmatch(text) else None


def _repo(owner: str, name: str) -> str | None:
    name = name.removesuffix(".git")
    if _NO_OWNER.fullmatch(owner) or name in ("", ".", "..") or not _OWNER.fullmatch(owner) or not _NAME.fullmatch(name):
        return None
    return f"{owner}/{name}".lower()


def _is_front_page(parts: SplitResult) -> bool:
    pieces = [piece for piece in parts.path.split("/") if piece]
    return len(pieces) == 2 or (len(pieces) == 4 and pieces[2] == "tree")


# --- addresses in general ------------------------------------------------------------------------------------------

MAX_URL = 2000  # characters; no browser's address is longer and no message takes more
_TRACKING = re.compile(
    r"(?i)utm_\w*|fbclid|gclid|dclid|gbraid|wbraid|msclkid|yclid|twclid|igshid|mc_[ce]id|_hs(?:enc|mi)|mkt_tok|vero_id|ref_src"
    r"|ref_url|wt\.mc_id|ns_(?:campaign|mchannel|source)|sc_campaign|at_(?:medium|campaign)|oly_(?:anon|enc)_id|__s|s_kwcid"
)
_BAD = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff<>\"\\^`{|}]")
_PORTS = {"http": 80, "https": 443}


def normalised_url(url: str) -> str:
    """Return a web address in one form, or "" when the text is none.

    Scheme and host in lower case; default port, fragment, tracking parameters, dot segments and a trailing slash gone;
    escapes spelt alike (RFC 3986 section 6.2.2). Anything but http and https, and addresses with a user name, give "".
    """
    parts = _split(url.strip())
    if parts is None:
        return ""
    netloc = _netloc(parts)
    if netloc[:1] in ("", ":") or _BAD.search(netloc):
        return ""
    path = _path(parts.path)
    query = "&".join(piece for piece in parts.query.split("&") if piece and not _is_tracking(piece))
    made = f"{parts.scheme.lower()}://{netloc}{path}" + (f"?{_spelt(query)}" if query else "")
    return made if len(made) <= MAX_URL else ""


def key_of_url(url: str) -> str:
    """Return the key of the work that an address leads to, or "" when it is no web address.

    `arxiv:` and `doi:` for a paper's page, `github:` for a repository's front page, otherwise `url:` with https for both
    schemes, so that a site that changes over keeps its keys.
    """
    if (paper := arxiv_id(url)) is not None and _split(url.strip()) is not None:
        return f"arxiv:{paper}"
    normal = normalised_url(url)
    if not normal:
        return ""
    if (found := doi(normal)) is not None:
        return f"doi:{found}"
    if (repo := github_repo(normal)) is not None and _is_front_page(urlsplit(normal)):
        return f"github:{repo}"
    return "url:https://" + normal.partition("://")[2]


def _split(url: str) -> SplitResult | None:
    """Take an address apart; None when it is not http or https, has no host, or hides something."""
    try:
        parts = urlsplit(url)
        usable = bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc
    except ValueError:
        return None
    if parts.scheme.lower() not in _PORTS or not usable or _BAD.search(parts.netloc):
        return None
    return parts


def _host(parts: SplitResult) -> str:
    return (parts.hostname or "").rstrip(".").removeprefix("www.")


def _netloc(parts: SplitResult) -> str:
    host = (parts.hostname or "").rstrip(".")
    with contextlib.suppress(UnicodeError):  # a name that IDNA cannot take stays as it is
        # IDNA turns other scripts' full stops into dots, of which none may end the name either.
        host = host if host.isascii() else host.encode("idna").decode("ascii").rstrip(".")
    host = f"[{host}]" if ":" in host else host
    return host if parts.port in (None, _PORTS[parts.scheme.lower()]) else f"{host}:{parts.port}"


def _path(path: str) -> str:
    out: list[str] = []
    for piece in path.split("/"):
        if piece == "..":
            out = out[:-1]
        elif piece != ".":
            out.append(piece)
    return _spelt("/".join(out)).rstrip("/")


def _spelt(text: str) -> str:
    """Escape what must be, unescape what need not be, leave an escape that means something (%2F) as it is."""
    text = re.sub(r"%([0-9A-Fa-f]{2})", _unescaped, text)
    return quote(text, safe="/%:@!$&'()*+,;=~?[]-._")


def _unescaped(match: re.Match[str]) -> str:
    letter = chr(int(match[1], 16))
    return letter if letter.isascii() and (letter.isalnum() or letter in "-._~") else f"%{match[1].upper()}"


def _is_tracking(piece: str) -> bool:
    names = parse_qsl(piece, keep_blank_values=True)
    return bool(names) and _TRACKING.fullmatch(names[0][0]) is not None


# --- what people type ----------------------------------------------------------------------------------------------

_LONGEST_NAME = 2 * MAX_URL  # characters of a text that may name a work
_KEY = re.compile(r"(?:arxiv|github|doi|url):\S+", re.IGNORECASE)
_OWNER_AND_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,38}/[\w.-]{1,100}", re.IGNORECASE | re.ASCII)
_BARE_HOST = re.compile(r"(?:[\w-]+\.)+[a-z]{2,}/\S+", re.IGNORECASE)
_BESIDE = "<>[]\"'`“”„‟«»‘’"  # what chats and people put around an address


def named_keys(text: str) -> tuple[str, ...]:
    """Return the keys of the works that the whole text may name, the likeliest first; () for a text that names none.

    A link, with or without its scheme, as chats write it (`<https://…|label>`) too; a key, an arXiv number, a DOI, or
    `owner/name`.
    """
    typed = text.strip() if len(text) <= _LONGEST_NAME else ""
    if typed[:1] == "<":
        typed = typed.partition("|")[0]
    typed = typed.strip(f"{_BESIDE} ").rstrip(".,;")
    return tuple(dict.fromkeys(key for key in _possible_keys(typed) if key.partition(":")[2]))


def _possible_keys(typed: str) -> Iterator[str]:
    yield key_of_url(typed[4:]) if typed.lower().startswith("url:") else ""
    if (paper := arxiv_id(typed)) is not None:
        yield f"arxiv:{paper}"
    if (found := doi(typed)) is not None:
        yield f"doi:{found}"
    for url in (typed, f"https://{typed}") if _BARE_HOST.match(typed) else (typed,):
        if (paper := arxiv_id(url)) is not None:
            yield f"arxiv:{paper}"
        yield key_of_url(url)
        yield f"github:{github_repo(url) or ''}"
    if _KEY.fullmatch(typed):
        yield from (typed, typed.lower())
    if is_owner_and_name(typed):
        yield f"github:{typed.lower()}"


def is_owner_and_name(text: str) -> bool:
    """Tell whether the text could be the bare name of a repository, `owner/name`; it could be words as well: "TCP/IP"."""
    return _OWNER_AND_NAME.fullmatch(text.strip()) is not None and arxiv_id(text) is None
