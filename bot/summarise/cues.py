"""The words by which a sentence of an abstract shows what it is for, and how much each says.

Each cue has a pattern and five weights, one per role of `bot.summarise.roles.ROLES` (background, objective, method,
result, other). The patterns were chosen by reading abstracts. The weights are those of a multinomial logistic regression
over cues and positions on the training part of CSAbstruct (Cohan et al., 2019; Apache-2.0; 1,668 abstracts), rounded to one
decimal, so that each can be read and argued with: a weight of 1 makes its role 2.7 times as likely.
"""

import re
from typing import NamedTuple

Weights = tuple[float, float, float, float, float]


class Cue(NamedTuple):
    """A kind of wording: its name, its pattern (case does not count), and what it says for each role."""

    name: str
    pattern: str
    weights: Weights


CUES = (
    Cue(
        "gap",
        r"\b(?:however|but|although|while|yet|nevertheless|unfortunately|despite|whereas)\b",
        (0.5, -0.1, 0, 0.3, -0.7),
    ),
    Cue(
        "lack",
        r"\b(?:lacks?|lacking|limit(?:s|ed|ation|ations)?|fail(?:s|ed|ure)?|suffers?|difficult(?:y|ies)?|"
        r"cannot|unable|little|few|rarely|ignor\w+|neglect\w*|underexplored|insufficient|costly|expensive|"
        r"inefficient|hard)\b",
        (0.7, -0.1, 0, 0, -0.6),
    ),
    Cue(
        "challenge",
        r"\b(?:challeng\w+|problems?|issues?|bottlenecks?|trade-?offs?|obstacles?|remains?|open question|"
        r"critical|crucial|essential)\b",
        (0.4, 0.3, 0.1, 0.1, -0.8),
    ),
    Cue(
        "general",
        r"\b(?:has|have) (?:been|become|gained|attracted|shown|emerged|received|led|enabled|long)\b|\b(?:is|"
        r"are) (?:widely|often|commonly|becoming|usually|typically|one of|important|known)\b",
        (0.6, -0.2, -0.1, 0.1, -0.4),
    ),
    Cue(
        "prior",
        r"\b(?:existing|previous|prior|traditional|conventional|current|earlier|typically|commonly|"
        r"recent(?:ly)?|most)\b",
        (0.3, 0, 0.2, 0, -0.6),
    ),
    Cue(
        "paper",
        r"\b(?:in )?(?:this|our|the present) (?:paper|work|article|study|thesis|report|letter|chapter|"
        r"survey)\b|\bhere,? we\b",
        (-0.4, 1.1, -0.2, -0.1, -0.5),
    ),
    Cue(
        "we_propose",
        r"\b(?:we|authors?|paper|article|work) (?:\w+ly |further |then |also |first |thus )?(?:propos\w+|"
        r"introduc\w+|present\w*|develop\w*|design\w*|describ\w+|devis\w+|contribut\w+|offer\w*)\b",
        (-0.2, 0.4, 0.3, -0.2, -0.3),
    ),
    Cue(
        "aim",
        r"\b(?:aims?|goals?|objectives?|purpose|seeks?|intend(?:s|ed)?|address(?:es)?|tackles?|motivated|"
        r"to this end|investigat\w+|explor\w+|stud(?:y|ies) (?:the|how|whether|a))\b",
        (-0.4, 1.3, -0.1, -0.3, -0.6),
    ),
    Cue("question", r"\?$|\b(?:whether|how to|research questions?|hypothes\w+)\b", (-0.3, 0, -0.1, -0.1, 0.5)),
    Cue("we", r"\b(?:we|our|us)\b", (-0.4, 0.4, 0.6, 0.2, -0.8)),
    Cue(
        "mechanism",
        r"\b(?:uses?|using|used|based on|consists? of|comprises?|combin\w+|employ\w*|leverag\w+|adopt\w*|"
        r"utili[sz]\w+|integrat\w+|via|by means of|relies|exploit\w*|extend\w*|appl(?:y|ied|ies)|train\w*|"
        r"formulat\w+|model(?:s|ed|led)? (?:the|as)|implement\w*|comput\w+|construct\w*|incorporat\w+)\b",
        (0.1, 0.2, 0.5, 0.1, -0.9),
    ),
    Cue(
        "sequence",
        r"^(?:first|second|third|then|next|finally|specifically|in particular|to do so|to achieve|moreover|"
        r"further)\b",
        (-0.1, 0, 0.5, 0.5, -0.9),
    ),
    Cue(
        "data",
        r"\b(?:data ?sets?|participants|samples?|survey(?:ed)?|interviews?|collected|corpus|corpora|"
        r"questionnaires?|patients|subjects)\b",
        (-0.1, 0, 0.1, 0.6, -0.6),
    ),
    Cue(
        "experiment",
        r"\b(?:experiment\w*|evaluat\w+|simulations?|empirical(?:ly)?|benchmarks?|case study|validat\w+|"
        r"compar(?:e|ed|ison|isons|ing)|tested)\b",
        (-0.1, 0.2, 0.3, 0.6, -1),
    ),
    Cue(
        "show",
        r"\b(?:results?|findings?|we (?:\w+ )?(?:show|find|found|demonstrate|observe|prove|conclude)\w*|"
        r"shows?|shown|showed|demonstrat\w+|indicat\w+|reveal\w*|suggest\w*|confirm\w*|found that|observed)\b",
        (0, -0.2, -0.1, 1.1, -0.8),
    ),
    Cue(
        "better",
        r"\b(?:outperform\w*|improv\w+|achiev\w+|better|superior|state-of-the-art|reduc\w+|increas\w+|faster|"
        r"speed-?ups?|accura\w+|significant(?:ly)?|effective(?:ly|ness)?|higher|lower|competitive|gains?|"
        r"surpass\w*|exceed\w*)\b",
        (0.1, 0.2, 0.1, 0.4, -0.8),
    ),
    Cue(
        "figure",
        r"\d(?:[\d,.]*\d)?\s?(?:%|×|x\b|percent|per cent|points?|fold|times|ms|bits?\b)|\bp\s?[<=]\s?0?\.\d",
        (-0.1, -0.1, 0.2, 0.6, -0.6),
    ),
    Cue("number", r"\d", (-0.2, -0.5, -0.1, 0, 0.8)),
    Cue(
        "implication",
        r"\b(?:implications?|conclu(?:de|sion|sions)|future (?:work|research)|paves?|opens?|enabl\w+|"
        r"insights?|potential|can be (?:used|applied)|allow(?:s|ing)?|provid\w+ (?:a|an|insight\w*|evidence)|"
        r"guidelines?|recommend\w*|promising|contribut\w+ to)\b",
        (0.2, 0.5, 0.3, 0.3, -1.2),
    ),
    Cue(
        "availability",
        r"https?://|\b(?:available (?:at|from|online|under)|publicly available|open[- ]sourc\w+|released?|"
        r"source code|code is)\b",
        (0, -0.5, -0.6, 0, 1.1),
    ),
    Cue("past", r"\b(?:was|were|had|did)\b", (-0.2, -0.3, 0.3, 0.7, -0.5)),
    Cue("must", r"\b(?:must|should|need(?:s|ed)?|requir\w+)\b", (0.3, 0.2, 0.1, 0.2, -0.8)),
    Cue(
        "anaphor",
        r"^(?:this|these|it|such|they|the (?:proposed|resulting|method|approach|system|model|algorithm|"
        r"framework))\b",
        (0, 0.5, 0.2, 0, -0.6),
    ),
    Cue(
        "copyright",
        r"©|\(c\) \d{4}|copyright|all rights reserved|elsevier|springer|\bieee\b.*\d{4}|published by",
        (-0.2, -0.4, -1, -0.7, 2.2),
    ),
)

PLACES: dict[str, Weights] = {
    "first": (2.7, 0, -0.8, -1.8, 0),
    "second": (2.3, 0.3, 0, -1.9, -0.6),
    "opening": (1.4, 0.3, 0.6, -1.3, -1),
    "middle": (0.6, 0, 0.9, -0.5, -1),
    "closing": (-0.2, -0.7, 0.8, 0.4, -0.3),
    "last": (-0.4, -1.1, -0.2, 1.1, 0.5),
}

# What the sentences around it say.
SETTINGS: dict[str, Weights] = {
    "after own work": (-0.6, -0.4, 0.4, 0.5, 0.1),  # a sentence before speaks of the authors' own work
    "before the contribution": (0.5, 0, -0.1, -0.2, -0.2),  # the contribution is announced later
    "after a result": (-0.2, -0.2, -0.1, 0.3, 0.2),  # a sentence before shows something or gives a figure
    "before a result": (0, 0.1, 0.3, 0.2, -0.6),  # a later sentence shows something
    "after the announcement": (-0.2, 0.5, 0.2, -0.2, -0.3),  # the sentence just before announces the contribution
}

PATTERNS = {cue.name: re.compile(cue.pattern, re.IGNORECASE) for cue in CUES}
