"""Ranking: a score with reasons for every item of a day, given a topic and the time; pure.

`ItemIndex` indexes a day's items once; `score` scores them for one topic and finds the reasons of those that are shown,
`rank` those of all; `diversify` leaves out near twins. `profile` says what a topic learned from the items that people
marked, which is what ranking uses too.
"""

from bot.rank.feedback import LearnedTerm, MarkedItem, profile
from bot.rank.item_index import Candidates, ItemIndex, all_items
from bot.rank.ranking import Diversified, Dropped, Scored, TopicInputs, description_text, diversify, rank, score

__all__ = [
    "Candidates",
    "Diversified",
    "Dropped",
    "ItemIndex",
    "LearnedTerm",
    "MarkedItem",
    "Scored",
    "TopicInputs",
    "all_items",
    "description_text",
    "diversify",
    "profile",
    "rank",
    "score",
]
