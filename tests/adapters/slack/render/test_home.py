"""The Home tab, as it is sent: within Slack's limits, harmless whatever stands in it, and no taller than a screen."""

from dataclasses import replace
from datetime import date

import pytest

from adapters.slack.forms.fields import with_unique_ids
from adapters.slack.render.blocks import ASKED_FIRST, SlackMessage
from adapters.slack.render.home import HomePage, home_page, sentence_page
from bot.handlers.surfaces.home import BEST, SAVED, SCHEDULES, Home, HomeEntry, HomeSubscription
from bot.models import Button, ReplyEntry, Rhythm
from tests.adapters.slack.height import height
from tests.adapters.slack.hostile import wrong
from tests.fakes.slack.blocks import check_view
from tests.fakes.works import paper

HOSTILE = "<!channel> <#C0EVIL> *bold* <https://evil.example|here> & :tada: @everyone"
WORDS = "A statement of eighteen words that says what the work found, with numbers and units in every second place"
CHOICES = tuple(Button(each, f"{each.lower()} arxiv:2603.00001") for each in ("Details", "Save", "More", "Less", "Similar"))
OWN = (Button("Preview", "now kv"), Button("Pause", "pause kv"), Button("Unsubscribe", "unsubscribe kv", danger=True))


def a_home(words: str = WORDS, title: str = "A title of a paper as they are on most days in most places") -> Home:
    """A page with as much as it takes."""
    item = paper("2603.00001", title=title)
    entry = ReplyEntry(item, gist=words, lines=("KV cache",), buttons=CHOICES)
    schedule = HomeSubscription("C0GENERAL", "kv", Rhythm.DAILY, "KV cache", "every day at 09:00 (UTC), next in 1 hour", OWN)
    return Home(
        heading="Today in your channels",
        best=tuple(HomeEntry("C0GENERAL", "KV cache", date(2026, 4, 1), entry) for _ in range(BEST)),
        subscriptions=(schedule,) * SCHEDULES,
        further=7,
        saved=((title, item),) * SAVED,
        saved_in_all=12,
        menu=(Button("All subscriptions", "list all"), Button("Help", "help")),
        may_manage=True,
    )


def checked(page: HomePage) -> HomePage:
    """Return the page, which Slack takes."""
    check_view({"type": "home", "blocks": with_unique_ids(page.blocks)})
    return page


def labels(page: HomePage) -> list[str]:
    """The labels of buttons, of entries of menus, and what stands in lists to choose from."""
    found = []
    for block in page.blocks:
        for each in [*block.get("elements", []), *([block["accessory"]] if "accessory" in block else [])]:
            found += [option["text"]["text"] for option in each.get("options", [])]
            found += [each[name]["text"] for name in ("text", "placeholder") if name in each and block["type"] != "context"]
    return found


def test_a_full_page_fits_a_screen() -> None:
    """Of 1,440 by 900 some 760 are left for an app's tab; the estimate is for a column of 600, and a Home's is wider."""
    page = checked(home_page(a_home(), "1"))
    assert height(page.blocks, 700) < 900
    assert height(page.blocks, 390) < 1_600


def test_what_strangers_wrote_is_harmless() -> None:
    page = checked(home_page(a_home(HOSTILE, HOSTILE), "1"))
    found = wrong(SlackMessage("x", tuple(page.blocks)), named=["C0GENERAL"])
    assert [each for each in found if "C0GENERAL" not in each] == []


@pytest.mark.parametrize("longest", ["x" * 5000, "word " * 1000])
def test_what_is_long_is_cut(longest: str) -> None:
    checked(home_page(a_home(longest, longest), "1"))


def test_what_ends_a_subscription_is_in_its_menu_the_last_and_asked_first() -> None:
    page = checked(home_page(a_home(), "1"))
    (menu, *_) = [
        block["accessory"] for block in page.blocks if str(block.get("block_id")).startswith("in:C0GENERAL:schedule")
    ]
    assert [each["value"] for each in menu["options"]] == [
        "now kv",
        "pause kv",
        "form:subscribe @daily kv",
        f"{ASKED_FIRST}unsubscribe kv",
    ]


def test_who_may_not_manage_is_offered_nothing_to_change() -> None:
    page = checked(home_page(replace(a_home(), may_manage=False), "1"))
    assert not {"Subscribe a channel", "New topic", "Edit…", "Send me a topic…"} & {*labels(page)}
    assert {"Search papers", "Look at a topic…", "Preview", "Help"} <= {*labels(page)}


def test_who_is_of_another_organisation_sees_a_search_and_what_they_saved() -> None:
    stranger = Home(heading="", saved=(("arxiv:2603.00001", None),), saved_in_all=1, menu=CHOICES[:1], is_external=True)
    assert labels(checked(home_page(stranger, "1"))) == ["Search papers", "Details", "All 1"]


def test_a_command_too_long_for_a_menu_is_kept() -> None:
    long = Button("Save", "save url:https://example.org/" + "a" * 200)
    entry = replace(a_home().best[0], entry=replace(a_home().best[0].entry, buttons=(CHOICES[0], long)))
    page = checked(home_page(replace(a_home(), best=(entry,)), "1"))
    assert page.keep == [long.command]


def test_what_is_sent_to_oneself_and_a_topic_that_is_gone() -> None:
    gone = HomeSubscription(
        "D0BEN", "lost", Rhythm.DAILY, "lost", "The topic is not there any more.", OWN[2:], can_edit=False
    )
    page = checked(home_page(replace(a_home(), subscriptions=(gone,)), "1"))
    assert "*lost* to you · The topic is not there any more." in str(page.blocks)
    assert "Unsubscribe" in labels(page)


def test_a_sentence_stands_with_the_buttons_that_always_work() -> None:
    assert labels(checked(sentence_page("It is *help* that helps."))) == ["Search papers", "Help"]
