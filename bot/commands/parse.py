"""Text to command.

The grammar is one line per command (`syntax` in bot/commands/table.py): a verb, what it is about, then what else is said.
No text raises anything but UsageError.
"""

import re
from collections.abc import Callable

from bot.commands.options import number, read_options
from bot.commands.quoting import EXACT, free_text, item_text, query_text, words_text
from bot.commands.table import Usage
from bot.commands.typed import plain
from bot.commands.verb import opened, verb
from bot.commands.verbs import (
    Command,
    CreateTopic,
    DeleteTopic,
    EditTopic,
    Filter,
    FilterAction,
    Format,
    Help,
    History,
    Less,
    ListSaved,
    ListSubscriptions,
    ListTopics,
    More,
    Now,
    Part,
    Pause,
    Profile,
    ProfileAction,
    Resume,
    Save,
    Scope,
    Search,
    Settings,
    ShowTopic,
    Similar,
    Status,
    Subscribe,
    Unsave,
    Unsubscribe,
    Why,
)
from bot.commands.words import Word, Words, nearest, shown
from bot.errors import UsageError

LONGEST = 20_000  # characters: a query of 2,000 in its longest form is shorter

_FOR = re.compile(rf"(?s)(.*\S) for ({EXACT}|[^\s\"]+|\"[^\"]*\")[.,;:!?]?", re.IGNORECASE)
_QUOTED_FOR = re.compile(rf"({EXACT}|\"[^\"]*\"),?(?: for ({EXACT}|[^\s\"]+|\"[^\"]*\"))?[.,;:!?]?", re.IGNORECASE)
_ADDED = frozenset({Part.INTEREST, Part.EXAMPLE, Part.REPOSITORIES})
_QUERIES = frozenset({Part.QUERY, Part.INTEREST, Part.REPOSITORIES})
_PARTS = {part.value: part for part in Part} | {
    "interests": Part.INTEREST,
    "examples": Part.EXAMPLE,
    "source": Part.SOURCES,
    "minimum": Part.MIN,
    "repository": Part.REPOSITORIES,
    "repos": Part.REPOSITORIES,
}
_FORMS = {form.value: form for form in Format} | {"bib": Format.BIBTEX, "md": Format.MARKDOWN}
_SCOPES = {scope.value: scope for scope in Scope}
_MOST_PAGES = 10_000
_MOST_WEIGHT = 10.0  # as in a topic's file


def parse(text: str) -> Command:
    """Return the command that the text says; nothing at all asks for help.

    Raises UsageError with the place in the text where it is known, and what was probably meant as its hint.
    """
    if len(text) > LONGEST:
        raise UsageError(f"A command may be {LONGEST:,} characters long; this one has {len(text):,}.", position=LONGEST)
    words = opened(text)
    meant = verb(words)
    if meant.error is not None:
        raise meant.error
    if meant.usage is None:
        raise words.fault("There is no such command.", hint="*help* lists all there is.")
    return _READERS[meant.usage.command](words, meant.usage)


# --- what several have in common


def _missing(words: Words, usage: Usage, what: str) -> UsageError:
    return words.fault(f"*{usage.words}* needs {what}: write for example *{usage.example}*.", hint=usage.example)


def _topic(words: Words, usage: Usage) -> str:
    word = words.next()
    if word is None or not word.text.strip():
        raise _missing(words, usage, "the name of a topic")
    return word.text


def _any_topic(words: Words, usage: Usage) -> str:
    words.take("for", "of")
    word = words.next()
    _end(words, usage)
    return word.text if word else ""


def _end(words: Words, usage: Usage) -> None:
    """See to it that nothing is left."""
    word = words.peek()
    if word is not None:
        over = shown(words.typed.text[word.start : words.end])
        raise words.fault(f'*{usage.words}* does not understand "{over}".', word, f"It goes *{usage.syntax}*.")


def _item(words: Words, usage: Usage) -> str:
    place = words.at
    item = item_text(words.rest())
    if not item.strip():
        raise words.fault(f"*{usage.words}* needs an item: write for example *{usage.example}*.", place, usage.example)
    return item


def _item_for_topic(words: Words, usage: Usage) -> tuple[str, str]:
    """Read all words as a title, but the last `for TOPIC`; behind a quotation only that."""
    words.peek()
    start, left = words.at, words.typed.text[words.at : words.end].rstrip()
    signs = plain(left)
    match = _QUOTED_FOR.fullmatch(signs) or _FOR.fullmatch(signs)
    topic = ""
    if match is not None and match[2] is not None:
        words.at = start + match.start(2)
        said = words.next()
        topic = said.text if said else ""
        left = left[: match.end(1)]
    item = item_text(left)
    if not item.strip():
        raise _missing(words, usage, "an item")
    return item, topic


def _flag(words: Words, *keys: str) -> bool:
    return words.take(*keys) is not None


# --- finding


def _search(words: Words, usage: Usage) -> Search:
    page = ""
    if words.split("page"):
        word = words.next()
        page = word.text if word else ""
    query = query_text(words.rest())
    if not query.strip():
        raise _missing(words, usage, "something to search for")
    return Search(query, page)


def _similar(words: Words, usage: Usage) -> Similar:
    return Similar(_item(words, usage))


def _why(words: Words, usage: Usage) -> Why:
    return Why(*_item_for_topic(words, usage))


def _now(words: Words, usage: Usage) -> Now:
    return Now(_any_topic(words, usage))


# --- subscriptions


def _subscribe(words: Words, usage: Usage) -> Subscribe:
    _step_over(words, "to")
    topic = _topic(words, usage)
    return Subscribe(topic=topic, **read_options(words))


def _unsubscribe(words: Words, usage: Usage) -> Unsubscribe:
    _step_over(words, "from")
    return Unsubscribe(_last_topic(words, usage))


def _list(words: Words, usage: Usage) -> ListSubscriptions:
    everywhere = _flag(words, "all", "everywhere")
    _end(words, usage)
    return ListSubscriptions(everywhere)


def _pause(words: Words, usage: Usage) -> Pause:
    topic = _topic(words, usage)
    said = words.take("until", "till", "for")
    until = words_text(words.rest()) if words.peek() else ""
    if said and not until:
        raise words.fault("*until* needs a day: write for example *until 2026-12-01*, *until monday* or *until 2w*.")
    return Pause(topic, until)


def _resume(words: Words, usage: Usage) -> Resume:
    return Resume(_last_topic(words, usage))


def _last_topic(words: Words, usage: Usage) -> str:
    topic = _topic(words, usage)
    _end(words, usage)
    return topic


def _step_over(words: Words, key: str) -> None:
    """Step over a word that people put in, when a topic follows."""
    at = words.at
    if words.take(key) and words.peek() is None:
        words.at = at


# --- topics


def _list_topics(words: Words, usage: Usage) -> ListTopics:
    _end(words, usage)
    return ListTopics()


def _show_topic(words: Words, usage: Usage) -> ShowTopic:
    return ShowTopic(_last_topic(words, usage))


def _create_topic(words: Words, usage: Usage) -> CreateTopic:
    name = _topic(words, usage)
    at = words.at
    if words.take("from"):
        origin = words.next()
        if origin is not None and words.peek() is None:
            return CreateTopic(name, origin=origin.text)
        words.at = at
    query = query_text(words.rest())
    if not query.strip():
        raise _missing(words, usage, "a query, or *from* another topic")
    return CreateTopic(name, query)


def _edit_topic(words: Words, usage: Usage) -> EditTopic:
    name = _topic(words, usage)
    revision = _revision(words)
    remove = _flag(words, "remove", "delete")
    if not remove:
        words.take("add", "set")
    part, said = _part(words, usage)
    if remove and part not in _ADDED:
        raise words.fault(f"The {part} of a topic cannot be removed: interests, examples and repositories can.", said)
    weight = _weight(words) if part is Part.INTEREST and not remove else None
    place = words.at
    read = query_text if part in _QUERIES else free_text
    written = words.rest()
    value = read(written)
    if not value.strip() and not (part is Part.DESCRIPTION and written):
        raise words.fault(
            f"*{usage.words}* needs a value for {part}: write for example *{usage.example}*.", max(place, words.end)
        )
    return EditTopic(name=name, part=part, value=value, weight=weight, remove=remove, revision=revision)


def _revision(words: Words) -> int | None:
    if not words.split("rev"):
        return None
    word = words.next()
    if word is None or not re.fullmatch(r"\d{1,9}", word.key, re.ASCII):
        raise words.fault("*rev=* takes the number of a revision, such as *rev=3*.", word)
    return int(word.key)


def _part(words: Words, usage: Usage) -> tuple[Part, Word]:
    word = words.next()
    if word is None:
        raise _missing(words, usage, "a part and its value")
    if word.option in _PARTS:
        return _PARTS[word.option], word
    near = nearest(word.option, _PARTS)
    if word.option in ("filter", "filters"):
        hint = "A filter is changed with *filter TOPIC everywhere set QUERY*."
    else:
        hint = f"Did you mean *{near}*?" if near else ""
    raise words.fault(f'A topic has no "{shown(word.text)}": it has {", ".join(Part)}.', word, hint)


def _weight(words: Words) -> float | None:
    at = words.at
    if words.take("weight") is None:
        return None
    word = words.next()
    value = number(word)
    if value is None:
        words.at = at
        return None
    if not -_MOST_WEIGHT <= value <= _MOST_WEIGHT:
        raise words.fault(f"*weight* takes a number from -{_MOST_WEIGHT:g} to {_MOST_WEIGHT:g}, such as *weight 2.5*.", word)
    return value


def _delete_topic(words: Words, usage: Usage) -> DeleteTopic:
    name = _topic(words, usage)
    anyway = _flag(words, "anyway")
    _end(words, usage)
    return DeleteTopic(name, anyway)


def _filter(words: Words, usage: Usage) -> Filter:
    topic = _topic(words, usage)
    scope = _scope(words)
    word = words.take(*FilterAction)
    action = FilterAction(word.option) if word else FilterAction.SHOW
    if action in (FilterAction.SHOW, FilterAction.CLEAR):
        scope = scope or _scope(words)
        if (left := words.peek()) is not None and word is None:
            near = nearest(left.option, FilterAction)
            hint = f"Did you mean *{near}*?" if near else "To try a query without setting it: *filter TOPIC test QUERY*."
            raise words.fault(f'"{shown(left.text)}" says not what to do: {", ".join(FilterAction)}.', left, hint)
        _end(words, usage)
        return Filter(topic, action, scope=scope)
    query = query_text(words.rest())
    if not query.strip() and action is not FilterAction.TEST:
        example = f"filter {shown(topic)} {action} has:code -survey"
        raise words.fault(f"*filter TOPIC {action}* needs a query: write for example *{example}*.", hint=example)
    return Filter(topic, action, query.strip() and query, scope)


def _scope(words: Words) -> Scope | None:
    word = words.take(*_SCOPES)
    return _SCOPES[word.option] if word else None


# --- taste


def _more(words: Words, usage: Usage) -> More:
    return More(*_item_for_topic(words, usage))


def _less(words: Words, usage: Usage) -> Less:
    return Less(*_item_for_topic(words, usage))


def _profile(words: Words, usage: Usage) -> Profile:
    topic = _topic(words, usage)
    word = words.take(*ProfileAction)
    action = ProfileAction(word.option) if word else ProfileAction.SHOW
    if action is ProfileAction.UNDO:
        return Profile(topic, action, item_text(words.rest()))
    _end(words, usage)
    return Profile(topic, action)


# --- saved


def _save(words: Words, usage: Usage) -> Save:
    return Save(_item(words, usage))


def _unsave(words: Words, usage: Usage) -> Unsave:
    return Unsave(_item(words, usage))


def _saved(words: Words, usage: Usage) -> ListSaved:
    form: Format | None = None
    page: int | None = None
    while (word := words.peek()) is not None:
        if words.take("as", "export"):
            continue
        if form is None and word.option in _FORMS:
            words.next()
            form = _FORMS[word.option]
        elif page is None and (words.split("page") or words.take("page")):
            page = _page(words)
        else:
            _end(words, usage)
    return ListSaved(form, page or 1)


def _page(words: Words) -> int:
    word = words.next()
    count = number(word)
    if count is None or count != int(count) or not 1 <= count <= _MOST_PAGES:
        raise words.fault("*page* takes a number from 1 on, such as *page 2*.", word)
    return int(count)


# --- the service


def _status(words: Words, usage: Usage) -> Status:
    _end(words, usage)
    return Status()


def _settings(words: Words, usage: Usage) -> Settings:
    word = words.next()
    return Settings(word.text, free_text(words.rest())) if word else Settings()


def _history(words: Words, usage: Usage) -> History:
    return History(_any_topic(words, usage))


def _help(words: Words, usage: Usage) -> Help:
    return Help(words_text(words.rest()))


_READERS: dict[type[Command], Callable[[Words, Usage], Command]] = {
    Search: _search,
    Similar: _similar,
    Why: _why,
    Now: _now,
    Subscribe: _subscribe,
    Unsubscribe: _unsubscribe,
    ListSubscriptions: _list,
    Pause: _pause,
    Resume: _resume,
    ListTopics: _list_topics,
    ShowTopic: _show_topic,
    CreateTopic: _create_topic,
    EditTopic: _edit_topic,
    DeleteTopic: _delete_topic,
    Filter: _filter,
    More: _more,
    Less: _less,
    Profile: _profile,
    Save: _save,
    Unsave: _unsave,
    ListSaved: _saved,
    Status: _status,
    Settings: _settings,
    History: _history,
    Help: _help,
}
