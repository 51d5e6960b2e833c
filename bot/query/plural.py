"""The singular of an English word, or at least one form for its singular and its plural.

The rule is the "S stemmer" of D. Harman, "How effective is suffixing?", JASIS 42(1), 1991: -ies to -y, -es to -e, -s
dropped, with exceptions. It was chosen over Porter's because it leaves other endings alone: a filter for *training* must
not let *train* in. Changed here:

- words in -is stay (analysis, this) beside Harman's -us and -ss; and words of one or two letters (us, os, js);
- -sses, -shes, -xes and -ches lose the whole -es, so that class, mesh, box and batch meet their plurals (her rule leaves
  batche); -caches keeps its e. -oes becomes -o from six letters on (heroes; moes, the plural of MoE, is moe);
- -yses and -theses become -ysis and -thesis (analyses, hypotheses);
- a number with an s stays (90s, 10s), a name with one does not (H100s);
- the plurals of initialisms in -U and -I that her -us rule or our -is rule would keep: GPUs, CPUs, ReLUs, APIs;
- the short lists below: irregular plurals of this field, and words in -s that are no plurals and whose stump would be
  another word (news, gps, lens).

What it cannot tell apart: the verb's -s from the plural's (uses = use), and initialisms from plurals (LMS = LMs).
"""

import re

_IRREGULAR = {
    "aliases": "alias", "appendices": "appendix", "atlases": "atlas", "automata": "automaton", "axes": "axis",
    "biases": "bias", "bonuses": "bonus", "buses": "bus", "campuses": "campus", "canvases": "canvas", "children": "child",
    "corpora": "corpus", "corpuses": "corpus", "cortices": "cortex", "crises": "crisis", "criteria": "criterion",
    "focuses": "focus", "formulae": "formula", "gases": "gas", "helices": "helix", "indices": "index", "lenses": "lens",
    "matrices": "matrix", "minibuses": "minibus", "oases": "oasis", "omnibuses": "omnibus", "phenomena": "phenomenon",
    "quizzes": "quiz", "simplices": "simplex", "spectra": "spectrum", "statuses": "status", "submatrices": "submatrix",
    "subindices": "subindex", "vertices": "vertex", "viruses": "virus", "vortices": "vortex",
    # singulars in -che and -ie
    "avalanches": "avalanche", "caches": "cache", "calories": "calorie", "cliches": "cliche", "cookies": "cookie",
    "hoodies": "hoodie", "movies": "movie", "niches": "niche", "rookies": "rookie", "selfies": "selfie", "zombies": "zombie",
    # initialisms and words in -u and -i
    "ais": "ai", "agis": "agi", "alus": "alu", "apis": "api", "bcis": "bci", "clis": "cli", "dois": "doi", "ecus": "ecu",
    "emojis": "emoji", "gelus": "gelu", "grus": "gru", "guis": "gui", "kpis": "kpi", "mcus": "mcu", "menus": "menu",
    "mpis": "mpi", "mris": "mri", "pdus": "pdu", "pois": "poi", "relus": "relu", "rois": "roi", "skus": "sku",
    "uis": "ui", "wikis": "wiki",
}  # fmt: skip

_NO_PLURALS = frozenset({
    "aes", "alias", "als", "always", "atlas", "aws", "bias", "bios", "cas", "canvas", "chaos", "cms", "cosmos", "css",
    "des", "dns", "eps", "fps", "gas", "gps", "has", "its", "kubernetes", "lens", "naas", "nas", "news", "paas", "pos",
    "ras", "redis", "rls", "rms", "saas", "sas", "series", "sms", "species", "tls", "tps", "tts", "was", "windows", "yes",
})  # fmt: skip

_UNIT = re.compile(r"[cdfgntvx]pus$").search  # gpus, cpus, vgpus, multigpus; not opus, corpus or campus


def singular(word: str) -> str:
    """Return the form under which a word and its plural meet; `word` is in lower-case ASCII letters and digits."""
    if len(word) < 3 or not word.endswith(("s", "a", "ae", "en")):
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if not word.endswith("s") or word in _NO_PLURALS or word[:-1].isdigit():
        return word
    stump = _without_s(word)
    return _IRREGULAR.get(stump, stump)


def _without_s(word: str) -> str:
    if word.endswith(("us", "ss", "is")):
        return word[:-1] if _UNIT(word) else word
    if word.endswith(("yses", "theses")):
        return word[:-2] + "is"
    if word.endswith("ies") and len(word) > 4 and word[-4] not in "ae":
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "xes")) or (word.endswith("ches") and not word.endswith("caches")):
        return word[:-2]
    if word.endswith("oes") and len(word) > 5:
        return word[:-2]
    return word[:-1]
