"""Ranking: a score with reasons for every item of a day, given a topic and the time; pure.

`ItemIndex` indexes a day's items once; `score` scores them for one topic and finds the reasons of those that are shown,
`rank` those of all; `diversify` leaves out near twins. `profile` says what a topic learned from the items that people
marked, which is what ranking uses too.
"""

from bot.rank.diversity import Diversified, Dropped, diversify
from bot.rank.edition import ItemIndex
from bot.rank.learning import LearnedTerm, MarkedItem, profile
from bot.rank.ranking import Scored, rank, score
from bot.rank.span import Candidates, all_items

__all__ = [
    "Candidates",
    "Diversified",
    "Dropped",
    "ItemIndex",
    "LearnedTerm",
    "MarkedItem",
    "Scored",
    "all_items",
    "diversify",
    "profile",
    "rank",
    "score",
]
