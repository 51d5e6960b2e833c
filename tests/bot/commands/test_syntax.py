import pytest

from bot.commands import (
    ChangeSettings,
    Command,
    CreateTopic,
    DeleteTopic,
    EditTopic,
    Filter,
    FilterAction,
    Follow,
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
    Show,
    ShowTopic,
    Similar,
    Status,
    Subscribe,
    Unreadable,
    Unsave,
    Unsubscribe,
    Why,
    help_for,
    parse,
    read,
    write,
)
from bot.errors import Incomplete, UsageError
from bot.models import Rhythm

_GPU = "gpu-systems"


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("", Help()),
        ("/digest", Help()),
        ("@broadsheet", Help()),
        ("?", Help()),
        ("help topic create", Help("topic create")),
        ("digest", Now()),
        ("digest gpu-systems", Now(_GPU)),
        ("preview for gpu-systems", Now(_GPU)),
        ("search page=abc-1 kv cache", Search("kv cache", "abc-1")),
        ("find kv OR cache", Search("kv OR cache")),
        ("similar to 2606.01234", Similar("2606.01234")),
        ("why not owner/name for gpu-systems", Why("owner/name", _GPU)),
        ("subscribe to gpu-systems", Subscribe(topic=_GPU)),
        ("sub to", Subscribe(topic="to")),
        ('subscribe "GPU systems" daily', Subscribe(topic="GPU systems", weekdays=(0, 1, 2, 3, 4, 5, 6))),
        ("unsubscribe from gpu-systems", Unsubscribe(_GPU)),
        ("subscribe list", ListSubscriptions()),
        ("ls all", ListSubscriptions(everywhere=True)),
        ("pause gpu-systems", Pause(_GPU)),
        ("mute gpu-systems for 2w", Pause(_GPU, until="2w")),
        ("pause gpu-systems 1 December 2026", Pause(_GPU, until="1 December 2026")),
        ("unpause gpu-systems", Resume(_GPU)),
        ("topic", ListTopics()),
        ("topics", ListTopics()),
        ("topic gpu-systems", ShowTopic(_GPU)),
        ("topics show gpu-systems", ShowTopic(_GPU)),
        ('topic "show"', ShowTopic("show")),
        ("new topic kv-cache “kv cache” OR “paged attention”", CreateTopic("kv-cache", "“kv cache” OR “paged attention”")),
        ("topic create kv-cache from gpu-systems", CreateTopic("kv-cache", origin=_GPU)),
        ("topic create web from scratch learning", CreateTopic("web", "from scratch learning")),
        ("topic delete kv-cache anyway", DeleteTopic("kv-cache", anyway=True)),
        ("filter gpu-systems", Filter(_GPU)),
        ("filter gpu-systems here", Filter(_GPU, scope=Scope.HERE)),
        ("filter gpu-systems show everywhere", Filter(_GPU, scope=Scope.TOPIC)),
        ("filter gpu-systems test", Filter(_GPU, FilterAction.TEST)),
        ("filter gpu-systems everywhere add here -survey", Filter(_GPU, FilterAction.ADD, "here -survey", Scope.TOPIC)),
        ("filter gpu-systems remove 2", Filter(_GPU, FilterAction.REMOVE, "2")),
        ("+1 3", More("3")),
        ("-1 3 for gpu-systems", Less("3", _GPU)),
        ("bookmark 3", Save("3")),
        ("unstar 3", Unsave("3")),
        ("profile gpu-systems undo", Profile(_GPU, ProfileAction.UNDO)),
        (
            "profile gpu-systems undo attention is all you need",
            Profile(_GPU, ProfileAction.UNDO, "attention is all you need"),
        ),
        ("show bibtex 2", Show("2", bibtex=True)),
        ("show 2 bibtex", Show("2", bibtex=True)),
        ("show 2 --BibTeX.", Show("2", bibtex=True)),
        ("show 2 bibtex for gpu-systems", Show("2", _GPU, bibtex=True)),
        ("show 2 for gpu-systems bibtex", Show("2", _GPU, bibtex=True)),
        ('show "Managing references with BibTeX"', Show("Managing references with BibTeX")),
        ('show "References with BibTeX" bibtex', Show("References with BibTeX", bibtex=True)),
        ("show 'References in bibtex for all' for gpu-systems", Show("References in bibtex for all", _GPU)),
        ("show 2 for bibtex", Show("2", "bibtex")),
        ("saved", ListSaved()),
        ("saved page 2", ListSaved(page=2)),
        ("saved page=2 as bib", ListSaved(Format.BIBTEX, 2)),
        ("list saved", ListSaved()),
        ("saved here", ListSaved(here=True)),
        ("saved bibtex here page 2", ListSaved(Format.BIBTEX, 2, here=True)),
        ("saved in #papers", ListSaved(here=True, channel="papers")),
        ("saved here as markdown in #papers", ListSaved(Format.MARKDOWN, here=True, channel="papers")),
        ("status", Status()),
        ("settings", ChangeSettings()),
        ("settings zone New York", ChangeSettings("zone", "New York")),
        ("history of gpu-systems", History(_GPU)),
    ],
)
def test_what_people_say_is_understood(text: str, command: Command) -> None:
    assert parse(text) == command


@pytest.mark.parametrize(
    ("text", "item", "topic"),
    [
        ("attention is all you need", "attention is all you need", ""),
        ("attention is all you need for gpu-systems", "attention is all you need", _GPU),
        ("learning for robots for gpu-systems", "learning for robots", _GPU),
        ("attention is all you need for those who read", "attention is all you need for those who read", ""),
        ('"learning for robots"', "learning for robots", ""),
        ('"learning for robots" for gpu-systems', "learning for robots", _GPU),
        ("‘learning for robots’", "learning for robots", ""),
        ("“Why?” for gpu-systems", "Why?", _GPU),
        ("What is attention?", "What is attention?", ""),
        ("2606.01234?", "2606.01234", ""),
        ("2606.01234v2, for gpu-systems.", "2606.01234v2", _GPU),
        ('he said "no" and left', 'he said "no" and left', ""),
        ("for gpu-systems", "for gpu-systems", ""),
    ],
)
def test_the_last_for_names_the_topic_and_all_before_it_is_the_item(text: str, item: str, topic: str) -> None:
    assert parse(f"more {text}") == More(item, topic)
    assert parse(f"why {text}") == Why(item, topic)


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        ("title “KV – caches”", EditTopic(name=_GPU, part=Part.TITLE, value="KV – caches")),
        ("description All of it.", EditTopic(name=_GPU, part=Part.DESCRIPTION, value="All of it.")),
        ('description ""', EditTopic(name=_GPU, part=Part.DESCRIPTION, value="")),
        ('query "kv cache"', EditTopic(name=_GPU, part=Part.QUERY, value='"kv cache"')),
        ("rev=3 sources arxiv, github", EditTopic(name=_GPU, part=Part.SOURCES, value="arxiv, github", revision=3)),
        ("min 0.3", EditTopic(name=_GPU, part=Part.MIN, value="0.3")),
        ('interest "kv cache"', EditTopic(name=_GPU, part=Part.INTEREST, value='"kv cache"')),
        ("add interest weight -2,5 kv", EditTopic(name=_GPU, part=Part.INTEREST, value="kv", weight=-2.5)),
        ("interest kv cache weight 3.", EditTopic(name=_GPU, part=Part.INTEREST, value="kv cache", weight=3)),
        ("interest weight loss", EditTopic(name=_GPU, part=Part.INTEREST, value="weight loss")),
        ("remove interest kv weight 3", EditTopic(name=_GPU, part=Part.INTEREST, value="kv weight 3", remove=True)),
        ("example 2606.01234", EditTopic(name=_GPU, part=Part.EXAMPLE, value="2606.01234")),
        ("repos topic:cuda stars:>200", EditTopic(name=_GPU, part=Part.REPOSITORIES, value="topic:cuda stars:>200")),
    ],
)
def test_every_part_of_a_topic_is_edited_in_its_own_way(text: str, edit: EditTopic) -> None:
    assert parse(f"topic edit gpu-systems {text}") == edit


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("2606.01234", Show("2606.01234")),
        ("arXiv:2606.01234v3", Show("arXiv:2606.01234v3")),
        ("cs/0112017", Show("cs/0112017")),
        ("10.48550/arXiv.2606.01234", Show("10.48550/arXiv.2606.01234")),
        ("/digest arxiv.org/pdf/2606.01234v2", Show("arxiv.org/pdf/2606.01234v2")),
        ("hf.co/papers/2606.01234", Show("hf.co/papers/2606.01234")),
        ("owner/name", Show("owner/name")),
        ("github.com/owner/name/issues/3", Show("github.com/owner/name/issues/3")),
        ("@broadsheet https://github.com/owner/name", Show("https://github.com/owner/name")),
        ("<https://arxiv.org/abs/2606.01234|arxiv.org/abs/2606.01234>", Show("https://arxiv.org/abs/2606.01234")),
        ("<https://arxiv.org/abs/2606.01234>.", Show("https://arxiv.org/abs/2606.01234")),
        ("https://lab.example/news", Show("https://lab.example/news")),
        ("2606.01234 for gpu-systems", Show("2606.01234", _GPU)),
        ("2606.01234 bibtex", Show("2606.01234", bibtex=True)),
        ("2606.01234 abstract", Show("2606.01234", abstract=True)),
        ("show 3 abstract", Show("3", abstract=True)),
        ("show abstract 3 for gpu-systems", Show("3", _GPU, abstract=True)),
        ("show abstract page 2 2606.01234", Show("2606.01234", abstract=True, page=2)),
        ("show abstract Page replacement", Show("Page replacement", abstract=True)),
        ("show Caching: Extended Abstract", Show("Caching: Extended Abstract")),
        ("show Abstract interpretation", Show("interpretation", abstract=True)),
        ('show "Abstract interpretation"', Show("Abstract interpretation")),
    ],
)
def test_a_link_or_an_identifier_in_a_verbs_place_asks_for_its_card(text: str, command: Command) -> None:
    assert parse(text) == command


@pytest.mark.parametrize(
    "text", ["node.js/npm", "owner/name is new", "2606.01234 2606.01235", "see https://arxiv.org/abs/2606.01234"]
)
def test_a_link_among_other_words_and_a_path_are_searched_for(text: str) -> None:
    assert parse(text) == Search(text)


@pytest.mark.parametrize("text", ["kv cache", '"kv cache"', "kv cach*", "kv", "/digest kv cache", "node.js"])
def test_words_without_a_verb_are_searched_for(text: str) -> None:
    assert parse(text) == Search(text.removeprefix("/digest "))


@pytest.mark.parametrize(
    "text",
    [
        "tropical fish",
        "moe routing",
        "forest fires",
        "spot instances",
        "shower thoughts",
        "lora",
        "robust training",
        "filtering noise",
    ],
)
def test_words_that_are_only_like_a_verb_are_searched_for(text: str) -> None:
    assert parse(text) == Search(text)


@pytest.mark.parametrize(
    ("text", "sentence", "position", "hint", "meant"),
    [
        (
            "serach kv",
            'There is no command "serach".',
            0,
            "Did you mean *search kv*? To search: *search serach kv*.",
            "search",
        ),
        ("/digest serach", 'There is no command "serach".', 8, "Did you mean *search*?", "search"),
        ("svae 3", 'There is no command "svae".', 0, "Did you mean *save 3*? To search: *search svae 3*.", "save"),
        ("search", "*search* needs something to search for", 6, "", "search"),
        ("more", "*more* needs an item: write for example *more 3 for gpu-systems*.", 4, "", "more"),
        ('save ""', "*save* needs an item", 7, "", "save"),
        ("subscribe", "*subscribe* needs the name of a topic", 9, "", "subscribe"),
        ("pause gpu-systems until", "*until* needs a day", 23, "", "pause"),
        ("topic crate x kv", '*topic* cannot "crate"', 6, "Did you mean *topic create*?", "topic create"),
        ("topic create x", "*topic create* needs a query", 14, "", "topic create"),
        ("topic edit x tilte y", 'A topic has no "tilte"', 13, "Did you mean *title*?", "topic edit"),
        ("topic edit x filter y", 'A topic has no "filter"', 13, "*filter TOPIC everywhere set QUERY*", "topic edit"),
        ("topic edit x title", "*topic edit* needs a value for the title", 18, "", "topic edit"),
        ("topic edit x remove title y", "cannot be removed", 20, "", "topic edit"),
        ("topic edit x rev=a title y", "such as *rev=3*", 17, "", "topic edit"),
        ("topic edit x interest weight 11 y", "from -10 to 10", 29, "", "topic edit"),
        ("filter x stars:>5", '"stars:>5" says not what to do', 9, "*filter TOPIC test QUERY*", "filter"),
        ("filter x tets kv", '"tets" says not what to do', 9, "Did you mean *test*?", "filter"),
        ("filter x set", "*set* needs a query", 12, "", "filter"),
        ("filter x clear kv", '*filter* does not understand "kv"', 15, "For example: *filter gpu-systems", "filter"),
        ("profile x forget", '*profile* does not understand "forget"', 10, "For example: *profile gpu-systems*", "profile"),
        ("saved docx", '*saved* does not understand "docx"', 6, "For example: *saved bibtex*.", "saved"),
        ("saved page 0", "*page* takes a number from 1 on", 11, "", "saved"),
        ("saved bibtex ris", 'understand "ris"', 13, "", "saved"),
        ("now gpu-systems rag", '*now* does not understand "rag"', 16, "For example: *now gpu-systems*.", "now"),
        ("now GPU systems", 'does not understand "systems"', 8, 'quotation marks, such as "GPU systems"', "now"),
        ("subscribe GPU systems at 9", '"systems" is not understood', 14, 'marks, such as "GPU systems"', "subscribe"),
        ("status of all", '*status* does not understand "of all"', 7, "For example: *status*.", "status"),
    ],
)
def test_what_is_not_understood_is_told_with_its_place_and_what_was_meant(
    text: str, sentence: str, position: int, hint: str, meant: str
) -> None:
    with pytest.raises(UsageError) as failed:
        parse(text)

    usage = help_for(text)
    assert sentence in str(failed.value)
    assert failed.value.position == position
    assert hint in failed.value.hint
    assert (usage.words if usage else "") == meant


def test_a_text_longer_than_any_command_is_refused_in_a_sentence() -> None:
    with pytest.raises(UsageError, match=r"20,000 characters long; this one has 20,007\."):
        parse("search " + "a" * 20_000)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (More("attention is all you need", _GPU), "more attention is all you need for gpu-systems"),
        (More("learning for robots"), 'more "learning for robots"'),
        (More('a "b" for c'), 'more ="a+%22b%22+for+c"'),
        (Search('"kv cache" -survey'), 'search "kv cache" -survey'),
        (Search("kv\ncache"), 'search ="kv%0Acache"'),
        (Search("page=x"), 'search ="page%3Dx"'),
        (Subscribe(topic="list"), 'subscribe "list"'),
        (Subscribe(topic=_GPU, zone="at top"), 'subscribe gpu-systems in "at top"'),
        (CreateTopic("x", "from gpu-systems"), 'topic create x ="from+gpu-systems"'),
        (EditTopic(name="x", part=Part.INTEREST, value="kv", weight=2.0), "topic edit x interest weight 2 kv"),
        (ListSaved(Format.RIS, 3), "saved ris page 3"),
        (ListSaved(Format.RIS, 3, channel="papers"), "saved here ris page 3 in #papers"),
    ],
)
def test_a_text_is_written_as_plainly_as_it_reads_back(command: Command, text: str) -> None:
    assert write(command) == text
    assert parse(text) == command


@pytest.mark.parametrize(
    ("text", "form", "topic"),
    [
        ("subscribe", "subscription", ""),
        ("/digest new topic", "topic", ""),
        ("topic edit kv-cache", "topic", "kv-cache"),
    ],
)
def test_what_says_too_little_names_the_form_in_which_the_rest_is_filled_in(text: str, form: str, topic: str) -> None:
    asked = read(text)

    assert isinstance(asked, Unreadable)
    assert isinstance(asked.error, Incomplete)
    assert (asked.error.form, asked.error.topic) == (form, topic)
    assert asked.error.position == len(text)
    assert "write for example" in str(asked.error)


def test_what_is_read_is_the_command_or_what_is_wrong_with_the_text() -> None:
    asked = read("unsubscribe")

    assert read("topics") == ListTopics()
    assert isinstance(asked, Unreadable)
    assert not isinstance(asked.error, Incomplete)
    assert asked.text == "unsubscribe"


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("subscribe kv in #papers", Subscribe(topic="kv", channel="papers")),
        ("subscribe kv in #papers in New York", Subscribe(topic="kv", zone="New York", channel="papers")),
        ("subscribe kv filter -survey in <#C123|papers>.", Subscribe(topic="kv", filter="-survey", channel="papers")),
        ("pause kv in <#123456> until monday", Pause("kv", until="monday", channel="123456")),
        ('list in "#Weekly papers"', ListSubscriptions(channel="Weekly papers")),
        ('follow "KV cache" weekly in #papers', Follow('"KV cache"', Rhythm.WEEKLY, channel="papers")),
        ('filter kv set "in #papers"', Filter("kv", FilterAction.SET, '"in #papers"')),
        ("search kv in #papers", Search("kv in #papers")),
    ],
)
def test_a_channel_is_named_anywhere_behind_the_verb(text: str, command: Command) -> None:
    assert parse(text) == command
    assert parse(write(command)) == command


@pytest.mark.parametrize(
    ("line", "works"),
    [
        ("subscribe gpu-systems to me@lab.org", "subscribe gpu-systems by email me@lab.org"),
        ("subscribe gpu-systems email me@lab.org", "subscribe gpu-systems by email me@lab.org"),
        ("subscribe gpu-systems via e-mail: me@lab.org", "subscribe gpu-systems by email me@lab.org"),
        ("subscribe gpu-systems by me@lab.org", "subscribe gpu-systems by email me@lab.org"),
        ("subscribe gpu-systems by email to me@lab.org", "subscribe gpu-systems by email me@lab.org"),
        ("/digest subscribe gpu-systems list me@lab.org", "subscribe gpu-systems by list me@lab.org"),
        ("sub gpu-systems me@lab.org weekdays at 07:00", "subscribe gpu-systems by email me@lab.org weekdays at 07:00"),
        (
            "subscribe gpu-systems weekdays at 07:00 me@lab.org.",
            "subscribe gpu-systems weekdays at 07:00 by email me@lab.org",
        ),
        ('subscribe "GPU systems" <mailto:me@lab.org|me@lab.org>', 'subscribe "GPU systems" by email me@lab.org'),
        ("subscribe me@lab.org gpu-systems weekly", "subscribe gpu-systems by email me@lab.org weekly"),
        ("subscribe me@lab.org", "subscribe TOPIC by email me@lab.org"),
        ("unsubscribe gpu-systems me@lab.org", "unsubscribe gpu-systems by email me@lab.org"),
        ("pause gpu-systems me@lab.org until monday", "pause gpu-systems by email me@lab.org until monday"),
        ("follow caches email me@lab.org", "follow caches by email me@lab.org"),
        ("list me@lab.org", "list by email me@lab.org"),
        ("email me@lab.org gpu-systems", "subscribe gpu-systems by email me@lab.org"),
        ("send gpu-systems to me@lab.org", "subscribe gpu-systems by email me@lab.org"),
        ("mail me@lab.org", "subscribe TOPIC by email me@lab.org"),
        ("send me an email to me@lab.org about caches", "subscribe TOPIC by email me@lab.org"),
        ("subscribe gpu-systems me@lab.org soon", "subscribe TOPIC by email me@lab.org"),
    ],
)
def test_an_address_that_stands_elsewhere_is_answered_with_the_line_that_works(line: str, works: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(line)
    assert str(caught.value) == 'An address stands behind "by email".'
    assert caught.value.hint == f"For example: *{works}*."
    if "TOPIC" not in works:
        assert parse(works).place.endswith(":me@lab.org")


@pytest.mark.parametrize("line", ["subscribe kv me*you@lab.org", f"subscribe kv {'x' * 64}@{'y' * 60}.org"])
def test_what_cannot_be_shown_in_a_hint_is_answered_with_somebodys_address(line: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(line)
    assert caught.value.hint == "For example: *subscribe TOPIC by email me@example.org*."


@pytest.mark.parametrize(
    "line",
    [
        "search me@lab.org",
        "me@lab.org",
        'follow "me@lab.org"',
        "email classification",
        "email gpu-systems to me",
        "follow o/repo@v1.2",
    ],
)
def test_an_address_that_is_searched_for_stays_one(line: str) -> None:
    parse(line)
