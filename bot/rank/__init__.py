"""Ranking: a score with reasons for every item of a day, given a topic and the time; pure.

`Edition` indexes a day's items once; `score` scores them for one topic and finds the reasons of those that are shown, `rank`
those of all; `diversify` lets near twins give way. `profile` says what a topic learned from the items that people marked;
ranking takes the same lessons.
"""

from bot.rank.diversity import Dropped, Selection, diversify
from bot.rank.edition import Edition
from bot.rank.learning import LearnedTerm, Lesson, profile
from bot.rank.ranking import Scored, rank, score
from bot.rank.span import Span, everything

__all__ = [
    "Dropped",
    "Edition",
    "LearnedTerm",
    "Lesson",
    "Scored",
    "Selection",
    "Span",
    "diversify",
    "everything",
    "profile",
    "rank",
    "score",
]
