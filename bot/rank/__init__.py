"""Ranking: a score with reasons for every item of a day, given a topic and the time; pure.

`Edition` indexes a day's items once; `rank` scores them for one topic; `diversify` lets near twins give way.
"""

from bot.rank.diversity import Dropped, Selection, diversify
from bot.rank.edition import Edition
from bot.rank.ranking import rank

__all__ = ["Dropped", "Edition", "Selection", "diversify", "rank"]
