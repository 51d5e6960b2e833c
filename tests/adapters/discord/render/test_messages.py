"""Replies as Discord's messages."""

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.discord.render.components import DiscordMessage, Picture, custom_ids, nested
from adapters.discord.render.messages import preview_message, reply_messages
from bot.handlers.saved import PAGE as SAVED_AT_ONCE
from bot.handlers.search.search import PAGE as FOUND_AT_ONCE
from bot.handlers.wording.replies import item_buttons
from bot.models import Button, Item, Reply, ReplyEntry, text_key
from tests.adapters import golden
from tests.adapters.discord.hostile import contents, faults
from tests.adapters.discord.picture import picture
from tests.adapters.discord.render.test_digests import ITEMS, hostile_entry
from tests.adapters.discord.render.test_markdown import HOSTILE
from tests.conftest import tries
from tests.fakes.replies import ABSTRACT, CARD, FOUND, READING, STARRED, SUBSCRIBED, TITLES, TRENDS, UGLY, page

TODAY = date(2026, 4, 1)
GOLDEN = Path(__file__).parent / "golden"


def test_a_page_of_hits_is_one_message_and_one_of_what_is_saved_two_at_most() -> None:
    (hits,) = reply_messages(page(FOUND_AT_ONCE, 4), TODAY)
    saved = reply_messages(page(SAVED_AT_ONCE, 2), TODAY)

    assert len(saved) <= 2
    assert [faults(each.body()) for each in (hits, *saved)] == [[]] * (1 + len(saved))


def test_a_page_of_titles_is_one_message() -> None:
    (titles,) = reply_messages(TITLES, TODAY)

    assert faults(titles.body()) == []


def test_what_a_paper_says_stresses_nothing_and_leads_nowhere() -> None:
    (posting,) = reply_messages(STARRED, TODAY)

    assert "\nSorts \\*in place\\*, by \\[rank\\](<https://x.example>)\n" in picture([posting])


def drawn(reply: Reply) -> list[Picture | None]:
    return [Picture(f"{each.name}.png", b"png", each.alt) for each in reply.charts]


@pytest.mark.parametrize(
    ("name", "postings"),
    [
        ("reply-card", reply_messages(CARD, TODAY)),
        ("reply-found", reply_messages(FOUND, TODAY)),
        ("reply-subscribed", reply_messages(SUBSCRIBED, TODAY)),
        ("reply-titles", reply_messages(TITLES, TODAY)),
        ("reply-trends", reply_messages(TRENDS, TODAY, pictures=drawn(TRENDS))),
        ("reply-ugly", reply_messages(UGLY, TODAY)),
    ],
)
def test_messages_look_as_they_did(name: str, postings: list[DiscordMessage]) -> None:
    golden.check(GOLDEN / f"{name}.md", picture(postings))
    assert [fault for each in postings for fault in faults(each.body())] == []


def test_a_command_too_long_for_a_button_is_kept_beside_the_message() -> None:
    command = "search " + "kv cache " * 20 + "sort:new"
    (posting,) = reply_messages(Reply(title="Found", buttons=(Button("Later", command), Button("Again", command))), TODAY)

    assert posting.keep == (command,)
    assert [each["custom_id"] for each in custom_ids(posting.components)] == [f"k:{text_key(command)}"]


def test_an_entry_with_many_lines_is_told_whole_with_its_buttons_at_the_end() -> None:
    lines = tuple(f"{number}. interest of that number" for number in range(1, 121))
    reply = Reply(
        title="GPU systems", entries=(ReplyEntry(title="Interests", lines=lines, buttons=(Button("Undo", "undo"),)),)
    )
    postings = reply_messages(reply, TODAY)
    shown = picture(postings)

    assert all(f"{number}\\. interest of that number\n" in shown for number in range(1, 121))
    assert shown.count("[Undo]") == 1
    assert shown.index("120\\. interest") < shown.index("[Undo]")
    assert [fault for each in postings for fault in faults(each.body())] == []


def test_every_step_of_the_settings_is_told() -> None:
    steps = tuple(
        f"*settings {name}* changes it." for name in ("manage", "zone", "top", "quiet", "daily", "alerts", "twice")
    )
    shown = picture(reply_messages(Reply(title="Settings", next_steps=steps), TODAY))

    assert all(f"`/digest settings name:{name}` changes it." in shown for name in ("manage", "alerts", "twice"))


def test_a_command_in_a_hint_is_shown_as_it_is_typed() -> None:
    reply = Reply(title="That did not work", text=("There is no topic.", "*topics* lists those there are."))
    assert "`/digest topic list` lists those there are." in picture(reply_messages(reply, TODAY))
    assert "</digest topic list:17> lists those there are." in picture(reply_messages(reply, TODAY, ids={"digest": "17"}))


def test_a_hint_names_its_options_behind_a_command_to_click() -> None:
    reply = Reply(title="Nothing here", next_steps=('*subscribe kv weekdays at 09:00* begins, *follow author:"A B"* too.',))
    shown = picture(reply_messages(reply, TODAY, ids={"digest": "17", "digest-manage": "18"}))

    assert "</digest-manage subscribe:18> `topic:kv days:weekdays at:09:00` begins, " in shown
    assert '</digest-manage follow:18> `what:author:"A B"` too.' in shown


def test_elsewhere_a_hint_is_what_a_person_installed_and_the_others_are_left_out_or_explained() -> None:
    here = {"papers": "17"}
    steps = ("*show 2606.01234* is its card.", "*follow kv cache* posts what is new of it.")
    hits = Reply(title="Found", next_steps=steps)
    told = Reply(title="Saved", text=("*saved* lists it.",), entries=(ReplyEntry(title="A", lines=("matches *list*",)),))

    (shown,), (explained,) = reply_messages(hits, TODAY, ids=here), reply_messages(told, TODAY, ids=here)
    assert "</papers show:17> `item:2606.01234` is its card." in picture([shown])
    assert "follow" not in picture([shown])
    assert "in a message to me directly" not in picture([shown])
    assert "`/digest saved` lists it." in picture([explained])
    assert "-# What begins with `/digest` is given in a server that has me, or in a message to me directly." in picture(
        [explained]
    )
    (unknown,) = reply_messages(hits, TODAY, ids={"papers": ""})
    assert "`/papers show item:2606.01234` is its card." in picture([unknown])


def test_a_heading_of_our_own_has_no_number_and_its_lines_name_commands_as_they_are_given() -> None:
    section = ReplyEntry(title="Finding", lines=("*search*: Search; *profile* too.", "the *search*"), is_section=True)
    (shown,) = reply_messages(Reply(title="Help", entries=(section,)), TODAY, ids={"digest": "17"})

    lines = picture([shown]).splitlines()
    told = [line.strip(" |") for line in lines]
    assert "**Finding**" in told
    assert "</digest search:17>: Search; </digest profile:17> too." in told
    assert "the **search**" in told


def found(*numbers: int) -> Reply:
    """Return a search's hits, each with its four buttons."""
    item = FOUND.entries[0].item
    assert item is not None
    items = [replace(item, key=f"arxiv:2606.0123{number}") for number in numbers]
    return replace(FOUND, entries=tuple(ReplyEntry(each, buttons=item_buttons(each, "gpu-systems")) for each in items))


def selects(reply: Reply) -> list[dict[str, Any]]:
    return [each for posting in reply_messages(reply, TODAY) for each in nested(posting.components) if each["type"] == 3]


def buttons(reply: Reply) -> list[str]:
    shown = [each for posting in reply_messages(reply, TODAY) for each in nested(posting.components)]
    return [each["label"] for each in shown if each["type"] == 2]


def test_the_hits_of_a_search_have_one_select_in_place_of_a_row_of_buttons_each() -> None:
    (select,) = selects(found(0, 1, 2, 3, 4))

    assert select["placeholder"] == "Open a card…"
    assert [each["label"].partition(". ")[0] for each in select["options"]] == ["11", "12", "13", "14", "15"]
    assert [each["value"] for each in select["options"]] == [
        f"c:show arxiv:2606.0123{number} for gpu-systems" for number in range(5)
    ]
    assert buttons(found(0, 1, 2, 3, 4)) == ["Later", "Best match"], "those of the whole answer"


def test_one_hit_alone_keeps_its_buttons() -> None:
    assert selects(found(0)) == []
    assert buttons(found(0)) == ["More like this", "Less", "Save", "Similar", "Later", "Best match"]


def test_what_no_card_has_is_a_select_of_its_own() -> None:
    several = found(0, 1, 2)
    held = tuple(
        replace(each, buttons=(Button("Unsave", f"unsave {number}"), each.buttons[-1]))
        for number, each in enumerate(several.entries)
    )
    saved = replace(several, entries=(*held, ReplyEntry(title="arxiv:1", buttons=(Button("Unsave", "unsave arxiv:1"),))))
    card, unsave = selects(saved)

    assert (card["placeholder"], len(card["options"])) == ("Open a card…", 3), "what is not kept any more has none"
    assert (unsave["placeholder"], [each["value"] for each in unsave["options"]]) == (
        "Unsave…",
        ["c:unsave 0", "c:unsave 1", "c:unsave 2", "c:unsave arxiv:1"],
    )
    assert unsave["custom_id"] != card["custom_id"]


def topics(count: int) -> Reply:
    named = [f"topic-{number}" for number in range(1, count + 1)]
    offered = (Button("Show", "topic show {}"), Button("Subscribe", "subscribe {}"))
    return Reply(
        title="Topics",
        entries=tuple(
            ReplyEntry(title=each, buttons=tuple(Button(one.label, one.command.format(each)) for one in offered))
            for each in named
        ),
    )


def test_a_long_list_has_a_select_for_each_thing_to_do_and_a_short_one_its_buttons() -> None:
    assert (selects(topics(2)), buttons(topics(2))) == ([], ["Show", "Subscribe"] * 2)
    show, subscribe = selects(topics(16))
    assert [each["placeholder"] for each in (show, subscribe)] == ["Show…", "Subscribe…"]
    assert subscribe["options"][15] == {"label": "16. topic-16", "value": "c:subscribe topic-16"}
    assert buttons(topics(16)) == []
    assert [len(each["options"]) for each in selects(topics(30))] == [25, 5, 25, 5], "no select has more than 25"


@pytest.mark.parametrize("count", [230, 600])
def test_a_list_of_hundreds_has_its_selects_in_as_many_messages_as_take_them(count: int) -> None:
    postings = reply_messages(topics(count), TODAY)
    bodies = [{"components": each.components, "allowed_mentions": {"parse": []}} for each in postings]
    assert [fault for body in bodies for fault in faults(body)] == []
    assert sum(len(each["options"]) for each in selects(topics(count))) == 2 * count


def test_who_is_known_by_an_identifier_alone_is_named_and_has_buttons() -> None:
    owners = tuple(
        ReplyEntry(title=f"10{each}", buttons=(Button("Take over", f"transfer from 10{each}"),)) for each in "123"
    )
    reply = Reply(title="Whose", entries=owners, people=("101", "102", "103"))

    assert (selects(reply), buttons(reply)) == ([], ["Take over"] * 3)


def test_what_a_stranger_wrote_makes_no_mention_of_a_command() -> None:
    reply = Reply(
        title="Found", text=('There is no command "</digest search:17>".',), next_steps=("*search a` </x:1>* it.",)
    )
    shown = picture(reply_messages(reply, TODAY, ids={"digest": "17"}))

    assert shown.count("</") == 1
    assert "</digest search:17> `query:aˋ /x` it." in shown


def test_the_card_of_one_item_is_one_message_with_all_that_may_be_done_with_it() -> None:
    (posting,) = reply_messages(CARD, TODAY)
    (said,) = contents(posting.components)

    assert said.startswith("### [Kernel-Smith"), "the title is the item's"
    assert buttons(CARD) == ["More like this", "Less", "Save", "Abstract", "Why", "Similar", "BibTeX"]
    assert posting.keys == (("arxiv:2603.28342", "github:internlm/kernel-smith"),)


def test_an_abstract_is_shown_whole_and_nothing_in_it_is_markup() -> None:
    (posting,) = reply_messages(ABSTRACT, TODAY)
    _, hostile, long = contents(posting.components)

    assert "\\*that\\*" in hostile
    assert "](https://evil.example)" not in hostile.replace("\\]", "")
    assert long.endswith("Sentence 37 measures the kernels.")


def test_the_preview_of_a_link_is_a_card_without_buttons() -> None:
    (posted,), preview = reply_messages(CARD, TODAY), preview_message(CARD.cards[0], TODAY)

    assert [*contents(preview.components)] == [*contents(posted.components)]
    assert [each for each in nested(preview.components) if each["type"] == 2] == []
    assert preview.keys == posted.keys


@settings(max_examples=tries(60), deadline=None)
@given(ITEMS, HOSTILE, st.integers(min_value=1, max_value=400))
def test_whatever_strangers_wrote_every_answer_is_within_the_limits(item: Item, text: str, times: int) -> None:
    reply = Reply(
        title=text,
        text=(text * times,) * 3,
        entries=(
            ReplyEntry(item, gist=text * times, lines=(text * times,) * 30, buttons=(Button(text, text),)),
            *(ReplyEntry(item, buttons=(Button(text, f"save {text}"), Button("", text * times))) for _ in range(3)),
            *(ReplyEntry(title=text, buttons=(Button(text, f"{text} {number}"),)) for number in range(30)),
        ),
        cards=(hostile_entry(item, text, times),),
        next_steps=(text * times,) * 9,
        buttons=(Button(text, text * times),),
    )
    for posting in reply_messages(reply, TODAY):
        assert faults(posting.body()) == []
        assert len(posting.plain.encode("utf-16-le")) // 2 <= 2000


def test_an_entry_leads_to_the_post_in_which_it_stood_where_that_is_an_address() -> None:
    shown = picture(reply_messages(READING, TODAY))
    assert "2 saved, the last on Wednesday 1 April · [See the post](<https://chat.example/p1>)" in shown
    assert "[See the post](<https://chat.example/p3>)" in shown
    assert "javascript" not in shown
