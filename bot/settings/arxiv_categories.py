"""arXiv's categories, by archive (arxiv.org/category_taxonomy), and which of a topic's are collected. Pure.

A category that does not exist would have arXiv refuse the feed of all of them: what people type is checked here.
"""

import difflib
from collections.abc import Mapping, Sequence

from bot.errors import UsageError
from bot.models import And, Label, Or, Topic, Tree
from bot.settings.sources import ArxivSettings
from bot.wording import listed

_SUBJECTS: Mapping[str, str] = {
    "astro-ph": "CO EP GA HE IM SR",
    "cond-mat": "dis-nn mes-hall mtrl-sci other quant-gas soft stat-mech str-el supr-con",
    "cs": "AI AR CC CE CG CL CR CV CY DB DC DL DM DS ET FL GL GR GT HC IR IT LG LO MA MM MS NA NE NI OH OS PF PL RO SC SD SE"
    " SI SY",
    "econ": "EM GN TH",
    "eess": "AS IV SP SY",
    "math": "AC AG AP AT CA CO CT CV DG DS FA GM GN GR GT HO IT KT LO MG MP NA NT OA OC PR QA RA RT SG SP ST",
    "nlin": "AO CD CG PS SI",
    "physics": "acc-ph ao-ph app-ph atm-clus atom-ph bio-ph chem-ph class-ph comp-ph data-an ed-ph flu-dyn gen-ph geo-ph"
    " hist-ph ins-det med-ph optics plasm-ph pop-ph soc-ph space-ph",
    "q-bio": "BM CB GN MN NC OT PE QM SC TO",
    "q-fin": "CP EC GN MF PM PR RM ST TR",
    "stat": "AP CO ME ML OT TH",
}
_WHOLE = ("gr-qc", "hep-ex", "hep-lat", "hep-ph", "hep-th", "math-ph", "nucl-ex", "nucl-th", "quant-ph")
CATEGORIES = (*(f"{archive}.{subject}" for archive, told in _SUBJECTS.items() for subject in told.split()), *_WHOLE)
_FEW = 12  # categories that a star may stand for: q-bio.* has ten, cs.* forty
_BY_LOWER = {category.lower(): category for category in CATEGORIES}


def categories_named(names: Sequence[str]) -> tuple[str, ...]:
    """Return the categories of these names as arXiv writes them, `q-bio.*` as all of its archive, each once.

    Raises UsageError for a name that is none, with the nearest.
    """
    found: list[str] = []
    for name in names:
        archive = name.lower().removesuffix(".*") if name.endswith(".*") else ""
        inside = [each for each in CATEGORIES if archive and each.startswith(f"{archive}.")]
        if not inside and name.lower() not in _BY_LOWER:
            near = difflib.get_close_matches(name.lower(), _BY_LOWER, 1)
            hint = f"Did you mean {_BY_LOWER[near[0]]}?" if near else "For example cs.RO, stat.ML or q-bio.*."
            raise UsageError(f'arXiv has no category "{name[:40]}".', hint=hint)
        found += inside or [_BY_LOWER[name.lower()]]
    return tuple(dict.fromkeys(found))


def needed_categories(topic: Topic) -> tuple[str, ...]:
    """Return the categories that the topic says it needs, and those that its query asks for by name, each once.

    A star that stands for many categories asks for none: what one topic says must not make all others read so much. None of
    a topic that takes nothing from arXiv.
    """
    if topic.sources and "arxiv" not in topic.sources:
        return ()
    asked = (each for label in _labels(topic.query.tree) for each in _meant(label))
    return tuple(dict.fromkeys((*topic.categories, *asked)))


def _labels(tree: Tree) -> list[Label]:
    """The categories that a tree asks for; not what it excludes."""
    match tree:
        case Label(field="category"):
            return [tree]
        case And() | Or():
            return [label for part in tree.parts for label in _labels(part)]
        case _:
            return []


def _meant(label: Label) -> Sequence[str]:
    if not label.prefix:
        return [_BY_LOWER[label.value]] if label.value in _BY_LOWER else []
    found = [category for lower, category in _BY_LOWER.items() if lower.startswith(label.value)]
    return found if len(found) <= _FEW else []


def not_collected(topic: Topic, arxiv: ArxivSettings, *, subscribed: bool = True) -> str:
    """Return which of the topic's categories are not collected for it, and what to do, in a sentence; "" where all are.

    What a topic that is `subscribed` needs is collected, unless the settings say otherwise.
    """
    missing = missing_categories(topic, arxiv)
    if (needed := needed_categories(topic)) and not arxiv.enabled:
        return (
            f"Nothing of {listed(needed)} is collected: arXiv is switched off. Whoever runs Broadsheet sets"
            ' "enabled = true" under [arxiv] in its settings.'
        )
    if not missing or (arxiv.follow_topics and subscribed):
        return ""
    are = "is" if len(missing) == 1 else "are"
    if arxiv.follow_topics:
        return f"arXiv's {listed(missing)} {are} collected while a channel subscribes to it, or the settings follow it."
    return (
        f"arXiv's {listed(missing)} {are} not collected, so that papers are missed. Whoever runs Broadsheet adds"
        f' {"it" if len(missing) == 1 else "them"} to "categories" under [arxiv] in its settings, or sets'
        ' "follow_topics = true" there.'
    )


def missing_categories(topic: Topic, arxiv: ArxivSettings) -> tuple[str, ...]:
    """Return those categories that the topic needs which are not among the settings' own, by name or with their archive."""
    own = set(arxiv.categories)
    return tuple(each for each in needed_categories(topic) if not own & {each, each.partition(".")[0]})
