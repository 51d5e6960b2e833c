"""Takes off what stands in front of a sentence and belongs to what went before: bullets, headings, connectives.

`- `, `2) `, `Methods: `, `However, `, `To address this gap, `, `In this paper, `. A condition is none of these: `Under this
assumption, it converges` keeps its beginning.
"""

import re

_BULLET = re.compile(r"^(?:[-*•·‣–]+|\(?(?:\d{1,2}|[ivx]{1,4}|[a-h])[.)])\s+")
_HEADING = re.compile(
    r"^(?:(?i:(?:main |key )?(?:background|objectives?|aims?|purpose|motivation|methods?|methodology|approach|"
    r"results?|findings|"
    r"conclusions?|significance|introduction|discussion|contributions?|problem|solution|impact|context|evaluation|"
    r"design|"
    r"implications|materials and methods|methods and results|problem statement)(?: and (?:objectives?|aims?|"
    r"methods?|results?|"
    r"conclusions?|significance|purpose|discussion))?(?: ?[:—–]| -))|"
    r"(?:BACKGROUND|OBJECTIVES?|AIMS?|PURPOSE|METHODS?|RESULTS?|FINDINGS|CONCLUSIONS?|SIGNIFICANCE|"
    r"INTRODUCTION)\.?) (?=\S)"
)
_PROBLEM = (
    r"(?:gap|challenge|issue|problem|limitation|difficult|shortcoming|concern|bottleneck|drawback|need|question|"
    r"trade-?off|"
    r"obstacle|hurdle|deficienc|weakness|inefficienc|constraint|void|risk|barrier|phenomen|demand|task|goal|aim|"
    r"end|purpose|"
    r"objective|direction)\w*"
)
_GROUND = (
    r"(?:observation|insight|finding|idea|intuition|principle|result|analys[ei]s|foundation|motivation|concept|success|"
    r"framework|data ?set|resource|paradigm|perspective|formulation|progress|advance|advancement|success|"
    r"potential|promise|"
    r"popularity|importance|development|improvement|benefit|effort|capabilit|understanding|theor|model|view|basis|"
    r"mind|spirit|"
    r"context|light|regard|respect|end|way|manner|fashion|aim|reason|purpose|vein|line|direction)\w*"
)
_THESE = r"(?:this|these|such|those|that|the above|above|the aforementioned|its|their)"
_CONNECTIVE = re.compile(
    r"^(?:(?:and|but|so|or) (?=(?:we|the|it|this|these|they|in|our)\b)|"
    r"(?:however|moreover|furthermore|additionally|in addition|further|further still|nevertheless|nonetheless|"
    r"thus|therefore|"
    r"hence|consequently|accordingly|as a (?:result|consequence)|on the (?:other|one) hand|on the contrary|"
    r"meanwhile|concurrently|"
    r"simultaneously|at the same time|specifically|more specifically|more precisely|more concretely|concretely|"
    r"in particular|"
    r"particularly|notably|importantly|more importantly|most importantly|crucially|critically|remarkably|"
    r"strikingly|surprisingly|"
    r"interestingly|unfortunately|fortunately|finally|lastly|overall|altogether|taken together|together|"
    r"collectively|ultimately|"
    r"in (?:summary|short|sum|conclusion|fact|turn|contrast|comparison|response|parallel|this way|doing so|this context|"
    r"this regard|this sense)|by (?:contrast|doing so|comparison)|to (?:summarize|summarise|conclude|do so|"
    r"do this)|besides|also|"
    r"yet|still|here|instead|rather|indeed|conversely|similarly|likewise|as such|for (?:example|instance|this reason)|"
    r"this way|that said|more broadly|more generally|next|then|subsequently|first|firstly|first of all|second|"
    r"secondly|third|thirdly|"
    r"fourth|fifth|on this basis|to our delight|"
    r"in (?:this|the present|the current) (?:paper|work|article|study|report|letter|survey|thesis|contribution|"
    r"chapter|research|"
    r"position paper|review|technical report|manuscript|note)|"
    r"(?:to|towards?) (?:this|that|these|those) (?:end|goal|aim)s?|"
    rf"(?:motivated|inspired|guided|driven) by {_THESE}(?: [\w-]+){{0,3}}|"
    rf"(?:based|building|drawing|relying) (?:up)?on {_THESE}(?: [\w-]+)?(?: {_GROUND})?|"
    rf"(?:with|given|in light of|in view of|in response to|for|in|despite|because of|due to|owing to|leveraging|"
    rf"using|following|"
    rf"exploiting|through) {_THESE} (?:[\w-]+ )?(?:{_GROUND}|{_PROBLEM})(?: in mind)?|"
    r"to (?:address|overcome|tackle|solve|mitigate|bridge|fill|close|alleviate|resolve|counter|combat|remedy|meet|"
    r"achieve|"
    r"accomplish|answer|support|realize|realise|enable|facilitate|handle|circumvent|study|investigate|explore|"
    r"ameliorate|"
    rf"do|test|validate|verify|demonstrate|remove|cope with|"
    rf"deal with) {_THESE}(?: [\w-]+){{0,2}}?(?: {_PROBLEM})?),+ +(?=\S)|"
    r"(?:here|in (?:this|the present) (?:paper|work|article|study|report|letter|survey|thesis|contribution|"
    r"chapter|research)) "
    r"(?=(?:we|I)\b))",
    re.IGNORECASE,
)
_MOST_CONNECTIVES = 3  # `Finally, to this end, in this paper, we …`


def opened(sentence: str, names: frozenset[str] = frozenset()) -> str:
    """Return the sentence without bullet, heading and connectives in front; `names` keep their lower case there."""
    text = _BULLET.sub("", " ".join(sentence.split()))
    text = _without(_HEADING, text, names)
    for _ in range(_MOST_CONNECTIVES):
        text = _without(_CONNECTIVE, text, names)
    return text


def _without(opening: re.Pattern[str], text: str, names: frozenset[str]) -> str:
    match = opening.match(text)
    return text if match is None else _capitalised(text[match.end() :], names)


def _capitalised(text: str, names: frozenset[str]) -> str:
    word = re.match(r"\w*", text)
    first = word.group() if word else ""
    following = text[len(first) : len(first) + 1]
    is_plain = first.isalpha() and first == first.lower() and first not in names and following in {" ", ",", "-", "'", "’"}
    return text[:1].upper() + text[1:] if is_plain else text
