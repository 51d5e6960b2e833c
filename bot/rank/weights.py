"""Every figure that ranking uses, in one place, each with its reason. docs/decisions/0012-ranking.md has the measurements.

A score is the sum of four parts, and of a fifth where people gave feedback (0015-feedback.md). Relevance (phrases and
examples, and what feedback adds) has four fifths of it: a digest that puts what is popular above what was asked for is not
about the topic. Community and freshness order what is about equally relevant.
"""

from datetime import timedelta
from types import MappingProxyType
from typing import Final

# --- how much each part may add; they come to 1

RELEVANCE: Final = 0.88
COMMUNITY: Final = 0.08
FRESHNESS: Final = 0.04

# How RELEVANCE is shared between phrases, closeness to the topic's description and closeness to its examples; what a topic
# has none of, the others share. On the judged days that tuning may see, .4 .25 .35 tells what is on the topic from what is
# not better than phrases and examples alone (docs/decisions/0054-relevance-first.md has the figures).
BY_PHRASES: Final = 0.40
BY_DESCRIPTION: Final = 0.25
BY_EXAMPLES: Final = 0.35

# From which nearness to description and examples on, as their shares weigh them, an item enters without the query's words.
ENTERS: Final = 0.35

# Digits of a score that count; below, the order of additions would decide.
DIGITS: Final = 6

# --- phrases

# How often a phrase occurs, field by field, as BM25F counts it: frequencies are weighted by field and added, and the sum
# saturates as f / (f + K1). S. Robertson, H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009,
# sections 3.4 and 3.5; K1 is its customary 1.2. A title is written to name the subject, and so are keywords.
FIELD_WEIGHTS: Final = MappingProxyType({"title": 3.0, "abstract": 1.0, "author": 1.0, "org": 1.0, "topic": 2.0})
K1: Final = 1.2

# A README of a thousand words mentions much; an abstract does not. The frequency in an abstract longer than this many tokens
# is scaled down in proportion. 300 lies above 99 of 100 abstracts on arXiv (mean 188 tokens, 2025/26).
LONG_ABSTRACT: Final = 300

# The weighted sum S over all phrases gives S / (|S| + HALF) of the part. With 2.0 one ordinary interest (weight 1) in title
# and abstract gives a quarter, four give more than half, and however many match, more still count. It does not depend on
# how many interests a topic has, so that a further matching one can only raise a score.
HALF: Final = 2.0

# --- examples

# Closeness is the mean cosine of TF-IDF vectors to the nearest three examples: with one, a single odd example decides; with
# all, a topic of two subjects is close to neither (gold standard of reviewers' expertise: loss .242 / .225 / .235 / .249
# for 1, 3, 5 and all).
NEAREST: Final = 3

# The cosine of two unrelated papers of one day is about 0.03 and of two on the very same question above 0.40 (2,410 arXiv
# papers of five days in 2025/26: median 0.03, one pair in 10,000 above 0.24). In between, linear.
FAR: Final = 0.03
NEAR: Final = 0.40

# From which cosine on a reason says "close to": one pair in a hundred of one day's papers is above.
TELL: Final = 0.12

# Tokens of the title count as often again: once, twice and three times are within the noise of each other there.
TITLE_TIMES: Final = 2

# --- meaning

# What the cosine of words has of closeness; the rest has that of vectors. Judged by CSFCube and the gold standard, between
# .2 and .5 is alike (0029).
OF_WORDS: Final = 0.3

# How near texts are by both, and the cosine of words that is as rare: among the 719,400 pairs of 1,200 arXiv papers of March
# 2026 the median, one in 100, 1,000 and 10,000, and one in half a million. UNRELATED is the mean cosine of their vectors.
ALIKE: Final = (0.0, 0.209, 0.438, 0.512, 0.577, 0.717, 1.0)
ALIKE_IN_WORDS: Final = (0.0, 0.026, 0.102, 0.159, 0.229, 0.509, 1.0)
# The same of one sentence and a paper (300 summaries of SciTLDR-A, 619 papers): a sentence is less near to all of them.
ALIKE_A_TEXT: Final = (0.0, 0.164, 0.375, 0.480, 0.557, 0.670, 1.0)
UNRELATED: Final = 0.284

# From which closeness by both on a reason says "close to": one pair in 600. Below, papers share a field, not a question.
TELL_BOTH: Final = 0.20

# Another model's space has its own mean, which is taken from the items; from this many on it is steady.
MEASURED_FROM: Final = 50

# --- feedback

# Ridge regression's penalty: with 1.0 a single label is believed by half. Between 0.3 and 3 nothing measurable changes.
RIDGE: Final = 1.0

# What "less" is worth beside "more": a person says it of one paper among many that they do not want either.
LESS: Final = 0.25

# What is learned of an item (up to 1, where everything like it was liked) is believed in full from here on: it is what one
# label gives an item that is as near as NEAR, twice over.
SURE: Final = 0.40

# How much of what is missing to full relevance "more" may give, and how much of an item's score "less" may take.
RAISE: Final = 0.60
LOWER: Final = 0.50

# The part of what is learned that vectors have, where every marked item has one; and the power of their cosines, so that
# what is not near counts for nothing, however much was marked. From more than a dozen marks words learn on and vectors do
# not: with sixty of a wide taste they made a day's ranking worse, so their part shrinks as marks grow (0029).
BY_MEANING: Final = 0.3
FEW: Final = 12
POWER: Final = 4

# How many papers the shipped table of common words stands for, beside those of the day.
TABLE_COUNTS: Final = 300.0

# --- community

# Pace (per day) is put on a logarithmic scale up to the day's 95th percentile, which is never taken to be less than this.
# Hugging Face Daily Papers at 08:00 UTC, 409 days of 2024 to 2026: the day's 95th percentile is 29 in the median. Stars: of
# the 3,553 most starred repositories on GitHub in June and July 2026, one in twenty gained more than 75 a day.
UPVOTES_FULL: Final = 30.0
STARS_FULL: Final = 75.0
TOP: Final = 95  # percent

# Stars as they stand, when nothing is known of their pace: at most half, reached at 5,000 (99th percentile of the
# repositories that Daily Papers name).
STARS_STANDING: Final = 5_000.0
STANDING_SHARE: Final = 0.5

# Being picked at all says something before the first upvote: 2,723 of 54,002 papers of arXiv's computer science were
# (March 2025 to March 2026).
PICK: Final = 0.25

# --- freshness

# A paper is news for days, and so is what happens to a repository: bot/rank/events.py says what that is.
PAPER_HALF_LIFE: Final = timedelta(days=3)
REPO_HALF_LIFE: Final = timedelta(days=3)

# --- near twins

# Two papers of one day with a cosine from here on are the same study twice, or two parts of one ("Rotatable Antenna Assisted
# Mobile Edge Computing" and "Rotatable Antenna-Enabled Mobile Edge Computing": 0.51): 7 of the 2.9 million pairs that
# 2,410 papers make.
TWIN: Final = 0.45

# Where both have a vector, from this mean of the two cosines on: 15 of 9.3 million pairs. Vectors alone would put different
# teams' answers to one question together (cosine 0.90, words 0.32); the same study has the same words too.
TWIN_BOTH: Final = 0.615
