"""What a message says that somebody writes to us: a command, or words as people speak. Pure.

A message is no command line: it greets, thanks, asks politely, and names a paper somewhere within a sentence. What cannot be
read as a command is searched for. What would change how the service is set up is never guessed: there a slip is told.
"""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from bot.commands.borrowed import BORROWED
from bot.commands.declaration import Command, Group
from bot.commands.finding import Search, Show, Similar
from bot.commands.syntax import LONGEST, Unreadable, help_for, names_item, parse, read, verb_of
from bot.commands.words import clean, plain
from bot.errors import UsageError
from bot.keys import is_owner_and_name


class SmallTalk(StrEnum):
    """What is said without anything being asked."""

    GREETING = "greeting"  # or the question what one may ask, or nothing at all
    THANKS = "thanks"  # or praise, or a sign alone


@dataclass(frozen=True, slots=True)
class Heard:
    """What a message asks for."""

    asked: Command | Unreadable | SmallTalk
    otherwise: Unreadable | None = None  # what is told instead where a search finds nothing: it may be a slip in a command
    line: str = ""  # the words that were read


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# A slip in one of these is told; of the others, what cannot be read is a sentence that begins with the same word.
_SETTING_UP = frozenset({Group.SUBSCRIPTIONS, Group.TOPICS})
_SENTENCE = _words(  # what follows a verb in a sentence, and begins no item, topic or title by itself
    "me us is are was were do does did can could would should has have papers paper articles article work works research"
    " anything something publications preprints repos repositories of about in on with people others"
)
_THANKS = _words(
    "thanks thank thx ty tysm cheers merci danke gracias great nice good cool awesome perfect excellent amazing brilliant"
    " wow lovely helpful useful ok okay k yes yep no nope lol haha sweet fine right sure noted done interesting well"
)
_GREETINGS = _words("hi hello hey hallo hiya yo howdy morning afternoon evening test testing ping")
_AROUND = _words(  # what stands beside them
    "you so much very a an lot lots many all team bot there again job work one it that this is was got for to us me my the"
    " really pretty good everyone folks friend too now please paper papers one ones find"
)
_QUESTIONS = re.compile(
    r"(?:who|what) are you|what (?:can|do) (?:you|i) (?:do|ask)(?: for| here)?|what is (?:this|it|that)(?: bot| app)?"
    r"|how (?:do|does) (?:you|this|it|that) work|how are you|how do i use (?:you|this|it)|are you (?:there|a bot|alive|ok)"
    r"|can you help(?: me| us)?|what(?:'s| is) up|what commands|(?:i need|need) help"
)
_LEAD = re.compile(
    r"(?:(?:hi|hello|hey|please|pls|so|ok|okay|well)\b[ ,!.:;-]*)*"
    r"(?:(?:can|could|would|will) (?:you|u|we|i) (?:please )?"
    r"|(?:i(?:'m| am)|we(?:'re| are)) (?:interested in|looking for|searching for) "
    r"|(?:i|we)(?:'d| would)? (?:like|love|want|need)(?: to (?:see|read|find|know))? "
    r"|do (?:you|we) (?:have|know)(?: of)? |(?:are|is) there |have you got |what about |how about )?"
    r"(?:help (?:me|us) (?:to )?(?=find|search|look))?"
    r"(?:(?:show|find|get|give|tell|send) (?:me|us) |search (?:for )?(?=papers? |any|some)|look for |find )?",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"(?:(?:about|on|for) )?(?:(?:any|some|all|the|a|more|other) )?"
    r"(?:anything|something|everything|papers?|articles?|research|works?|publications?|preprints?)"
    r"(?: (?:that (?:is|are)|out there|there is|here))? (?:about|on|for|regarding|concerning|related to|dealing with) ",
    re.IGNORECASE,
)
_CLOSE_TO = re.compile(
    r"(?:similar|related|like|close to)(?: (?:papers?|works?|things|stuff|ones?|to|as|like))* ", re.IGNORECASE
)
_TAIL = re.compile(r"(?:[ ,]+(?:please|pls|thanks|thank you|thx))?[ ?!.,;:]*$", re.IGNORECASE)
_AROUND_MENTION = re.compile(
    r"(?:@\w+|[ ,.;!?]+)+:?(?= |$)|[ ,.;!?]+"
)  # at the beginning: of a sentence in which we are named
_SHORTCODES = re.compile(r":[\w+'-]+:")  # as Slack writes 🙏
_SIGNS = re.compile(r"[^\w' ]+")


def heard(text: str) -> Heard:
    """Return what a message asks for, of which nothing but what is said to us is given. Raises nothing."""
    if len(text) > LONGEST:
        return Heard(read(text))
    words = clean(text).text.strip()
    words = words[found.end() :].strip() if (found := _AROUND_MENTION.match(words)) else words
    return replace(_heard(words), line=words)


def _heard(words: str) -> Heard:
    if (small := _small_talk(words)) is not None:
        return Heard(small)
    verb = verb_of(words)
    asked = read(words)
    if len(words.split()) == 1 and (verb is not None or words.casefold() in BORROWED):
        return Heard(asked)
    if verb is not None and verb.group in _SETTING_UP and not _is_sentence(words):
        return Heard(asked)
    without_verb = verb is None and isinstance(asked, Search)
    if isinstance(asked, Command) and not without_verb and not _is_sentence(words):
        return Heard(_politely_searched(asked))
    return _in_own_words(words, asked)


def _politely_searched(asked: Command) -> Command:
    return Search(_without_frills(asked.query) or asked.query) if isinstance(asked, Search) and not asked.page else asked


def _in_own_words(words: str, asked: Command | Unreadable) -> Heard:
    """Return the card of the one thing that is named, what is close to it, or a search for the words."""
    said = _without_frills(words)
    if (item := _item_within(said)) is not None:
        return Heard(Similar(item) if _CLOSE_TO.match(said) else Show(item))
    if not said:
        return Heard(SmallTalk.GREETING)
    slip = _slip(words)
    if isinstance(slip, Search):
        return Heard(slip)
    return Heard(Search(said), asked if slip is not None and isinstance(asked, Unreadable) else None)


def _slip(words: str) -> Command | None:
    """Return the command that the words would be if their first were not misspelt; None where it is no verb's slip."""
    meant, (_, _, rest) = help_for(words), words.partition(" ")
    if verb_of(words) is not None or meant is None or (meant.words == "search" and not _is_near(words, "search")):
        return None
    try:
        return parse(f"{meant.words} {rest}")
    except UsageError:
        return None


def _is_near(words: str, verb: str) -> bool:
    """Say whether the first word has the letters of the verb, in another order or but for one."""
    first = words.split()[0].casefold()
    return abs(len(first) - len(verb)) <= 1 and len(set(first) ^ set(verb)) <= 1


def _is_sentence(words: str) -> bool:
    """Say whether it goes on as a sentence does: `show me …`, `why does …`, `status of …`; an item that is named is none."""
    first, second, *_ = [*plain(words).casefold().split(maxsplit=2), "", ""]
    return (
        second in _SENTENCE and first not in ("search", "find", "trending", "follow", "subscribe", "topic", "filter")
    ) or (first == "help" and len(words.split()) > 2)


def _without_frills(words: str) -> str:
    """Return the words without what is said for politeness, before and behind them."""
    said = plain(words)
    at = _LEAD.match(said).end()  # type: ignore[union-attr] # it matches nothing, too
    if (filler := _FILLER.match(said, at)) is not None:
        at = filler.end()
    end = _TAIL.search(said)
    return words[at : end.start() if end is not None else None].strip()


def _item_within(words: str) -> str | None:
    """Return the one link or identifier that stands among the words; `owner/name` may be words as well, and is none."""
    found = list(dict.fromkeys(each.strip("()[],;") for each in words.split()))
    named = [each for each in found if names_item(each) and not is_owner_and_name(each)]
    return named[0] if len(named) == 1 else None


def _small_talk(words: str) -> SmallTalk | None:
    bare = " ".join(_SIGNS.sub(" ", _SHORTCODES.sub(" ", plain(words))).casefold().split())
    if not bare:
        return SmallTalk.THANKS if words.strip(" .,!?@:;") else SmallTalk.GREETING
    if _QUESTIONS.fullmatch(bare):
        return SmallTalk.GREETING
    said = bare.split()
    known = set(said) <= _THANKS | _GREETINGS | _AROUND and len(said) <= 8
    if known and _GREETINGS.intersection(said):
        return SmallTalk.GREETING
    return SmallTalk.THANKS if known and _THANKS.intersection(said) else None
