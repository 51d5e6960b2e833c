"""Text to command.

The grammar is one line per command (`syntax` in bot/commands/table.py): a verb, what it is about, then what else is said.
No text raises anything but UsageError.
"""

from collections.abc import Callable

from bot.commands.options import number, read_options
from bot.commands.quoting import free_text, item_text, query_text, words_text
from bot.commands.reading import any_topic, end, item, item_for_topic, last_topic, missing, topic_name
from bot.commands.table import Usage
from bot.commands.topic_words import change_filter, create_topic, delete_topic, edit_topic, list_topics, show_topic
from bot.commands.verb import opened, verb
from bot.commands.verbs import (
    Command,
    CreateTopic,
    DeleteTopic,
    EditTopic,
    Filter,
    Format,
    Help,
    History,
    Less,
    ListSaved,
    ListSubscriptions,
    ListTopics,
    More,
    Now,
    Pause,
    Profile,
    ProfileAction,
    Resume,
    Save,
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
from bot.commands.words import Words
from bot.errors import UsageError

LONGEST = 20_000  # characters: a query of 2,000 in its longest form is shorter

_FORMS = {form.value: form for form in Format} | {"bib": Format.BIBTEX, "md": Format.MARKDOWN}
_MOST_PAGES = 10_000


def parse(text: str) -> Command:
    """Return the command that the text says; nothing at all asks for help.

    Raises UsageError with the place in the text where it is known, and what was probably meant as its hint.
    """
    if len(text) > LONGEST:
        raise UsageError(f"A command may be {LONGEST:,} characters long; this one has {len(text):,}.", position=LONGEST)
    words = opened(text)
    meant = verb(words)
    if meant.error is not None or meant.usage is None:
        raise meant.error or words.fault("There is no such command.", 0)
    return _READERS[meant.usage.command](words, meant.usage)


# --- finding


def _search(words: Words, usage: Usage) -> Search:
    page = ""
    if words.split("page"):
        word = words.next()
        page = word.text if word else ""
    query = query_text(words.rest())
    if not query.strip():
        raise missing(words, usage, "something to search for")
    return Search(query, page)


def _similar(words: Words, usage: Usage) -> Similar:
    return Similar(item(words, usage))


def _why(words: Words, usage: Usage) -> Why:
    return Why(*item_for_topic(words, usage))


def _now(words: Words, usage: Usage) -> Now:
    return Now(any_topic(words, usage))


# --- subscriptions


def _subscribe(words: Words, usage: Usage) -> Subscribe:
    _step_over(words, "to")
    topic = topic_name(words, usage)
    return Subscribe(topic=topic, **read_options(words))


def _unsubscribe(words: Words, usage: Usage) -> Unsubscribe:
    _step_over(words, "from")
    return Unsubscribe(last_topic(words, usage))


def _list(words: Words, usage: Usage) -> ListSubscriptions:
    everywhere = words.take("all", "everywhere") is not None
    end(words, usage)
    return ListSubscriptions(everywhere)


def _pause(words: Words, usage: Usage) -> Pause:
    topic = topic_name(words, usage)
    said = words.take("until", "till", "for")
    until = words_text(words.rest()) if words.peek() else ""
    if said and not until:
        raise words.fault("*until* needs a day: write for example *until 2026-12-01*, *until monday* or *until 2w*.")
    return Pause(topic, until)


def _resume(words: Words, usage: Usage) -> Resume:
    return Resume(last_topic(words, usage))


def _step_over(words: Words, key: str) -> None:
    """Step over a word that people put in, when a topic follows."""
    at = words.at
    if words.take(key) and words.peek() is None:
        words.at = at


# --- taste


def _more(words: Words, usage: Usage) -> More:
    return More(*item_for_topic(words, usage))


def _less(words: Words, usage: Usage) -> Less:
    return Less(*item_for_topic(words, usage))


def _profile(words: Words, usage: Usage) -> Profile:
    topic = topic_name(words, usage)
    word = words.take(*ProfileAction)
    action = ProfileAction(word.option) if word else ProfileAction.SHOW
    if action is ProfileAction.UNDO:
        return Profile(topic, action, item_text(words.rest()))
    end(words, usage)
    return Profile(topic, action)


# --- saved


def _save(words: Words, usage: Usage) -> Save:
    return Save(item(words, usage))


def _unsave(words: Words, usage: Usage) -> Unsave:
    return Unsave(item(words, usage))


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
            end(words, usage)
    return ListSaved(form, page or 1)


def _page(words: Words) -> int:
    word = words.next()
    count = number(word)
    if count is None or count != int(count) or not 1 <= count <= _MOST_PAGES:
        raise words.fault("*page* takes a number from 1 on, such as *page 2*.", word)
    return int(count)


# --- the service


def _status(words: Words, usage: Usage) -> Status:
    end(words, usage)
    return Status()


def _settings(words: Words, usage: Usage) -> Settings:
    word = words.next()
    return Settings(word.text, free_text(words.rest())) if word else Settings()


def _history(words: Words, usage: Usage) -> History:
    return History(any_topic(words, usage))


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
    ListTopics: list_topics,
    ShowTopic: show_topic,
    CreateTopic: create_topic,
    EditTopic: edit_topic,
    DeleteTopic: delete_topic,
    Filter: change_filter,
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
