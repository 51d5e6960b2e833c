"""Ranking: a score with reasons for every item of a day, given a topic and the time; pure.

`Edition` indexes a day's items once; `rank` scores them for one topic; `diversify` lets near twins give way. `profile` says
what a topic learned from the items that people marked; `rank` takes the same lessons.
"""

from bot.rank.diversity import Dropped, Selection, diversify
from bot.rank.edition import Edition
from bot.rank.learning import LearnedTerm, Lesson, profile
from bot.rank.ranking import rank

__all__ = ["Dropped", "Edition", "LearnedTerm", "Lesson", "Selection", "diversify", "profile", "rank"]
