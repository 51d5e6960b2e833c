"""The Home tab as Slack shows it: a page of a person's own that fits a laptop's screen. Pure.

From top to bottom: what one may do, with the topics behind two lists to choose from; the best of what was posted in the
person's channels, the schedules there, and what the person saved.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from adapters.chat.forms import FormKind, FormRequest
from adapters.slack.forms.fields import Block, button_row, form_button, form_option, mrkdwn, plain_text, search_select
from adapters.slack.render.blocks import Menu, actions, context_line, exact, header, link, menu, section
from adapters.slack.render.limits import units
from adapters.text import clean, cut
from adapters.words import first_link, title
from bot.handlers.surfaces.home import Home, HomeEntry, HomeSubscription
from bot.models import Button, Item
from bot.wording import counted

HOME = "home"
SHOW_TOPIC, SEND_TO_ME = "topic:show", "topic:to_me"  # the actions of the two lists
_TITLE = 110  # characters, as `units` counts them: a line, nearly always
_SAVED_TITLE = 90
_GIST = 200
_ADDRESS = 1_500
_MENU_MOST = 5
_NO_MENU = Menu()
_DIRECT = "D"  # begins the identifiers of direct messages


@dataclass(slots=True)
class HomePage:
    """The blocks of the tab, and the texts that must be kept for its menus to mean something."""

    blocks: list[Block] = field(default_factory=list)
    keep: list[str] = field(default_factory=list)

    def add(self, blocks: Iterable[Block], beside: Menu = _NO_MENU) -> None:
        """Add blocks, of which a menu is a part."""
        self.blocks += blocks
        self.keep += beside.keep


def home_page(found: Home, edition: str) -> HomePage:
    """Return the page; with another `edition` the lists show nothing as chosen."""
    page = HomePage()
    _add_doors(page, found, edition)
    if not found.is_external:
        page.add(header(found.heading))
        _add_best(page, found)
        _add_schedules(page, found)
    _add_saved(page, found)
    return page


def sentence_page(text: str) -> HomePage:
    """Return the page that says one sentence of ours."""
    help_ = {"type": "button", "action_id": "command:0", "text": plain_text("Help", 75), "value": "help"}
    search = form_button(FormRequest(FormKind.SEARCH), "Search papers")
    said = {"type": "section", "block_id": "said|", "text": mrkdwn(text)}
    return HomePage([button_row("doors", search, help_), said])


def _add_doors(page: HomePage, found: Home, edition: str) -> None:
    """Add what one may do here, whatever there is; what is seldom asked for stands in a menu."""
    search = form_button(FormRequest(FormKind.SEARCH), "Search papers")
    subscribe = form_button(FormRequest(FormKind.SUBSCRIPTION), "Subscribe a channel") | {"style": "primary"}
    topic = [form_option(FormRequest(FormKind.TOPIC), "New topic")] if found.may_manage else []
    more = _with_options(menu(found.menu), topic)
    seldom = [more.element] if more.element is not None else _pressed(found.menu)
    doors = [*([subscribe] if found.may_manage else []), search, *_topic_lists(found), *seldom]
    page.add([button_row(f"doors:{edition}", *doors)], more)


def _pressed(choices: Sequence[Button]) -> Sequence[Block]:
    return [each for block in actions("doors", choices).blocks for each in block["elements"]]


def _topic_lists(found: Home) -> Iterator[Block]:
    """Yield the two lists of topics: one subscribes what is chosen for the person, one shows it."""
    if found.may_manage:
        yield search_select("", "", "Send me a topic…") | {"action_id": SEND_TO_ME}
    if not found.is_external:
        yield search_select("", "", "Look at a topic…") | {"action_id": SHOW_TOPIC}


def _with_options(made: Menu, options: Sequence[Block], at: int = 0) -> Menu:
    """Return the menu with these entries as well, from that place on."""
    if made.element is None or not options:
        return made
    own = made.element["options"]
    return replace(made, element={**made.element, "options": [*own[:at], *options, *own[at:]][:_MENU_MOST]})


def _add_best(page: HomePage, found: Home) -> None:
    if found.nothing:
        page.add([{"type": "section", "text": mrkdwn(found.nothing)}])
    for number, each in enumerate(found.best):
        choices = menu(each.entry.buttons)
        made = section(_entry_text(each), choices)
        page.add(_named(made, f"in:{each.channel}:best{number}"), choices)


def _entry_text(each: HomeEntry) -> str:
    assert each.entry.item is not None  # noqa: S101 - the page has items alone
    topic, *day = each.entry.lines
    where = " ".join(filter(None, (exact(topic), _place(each.channel))))
    gist = cut(clean(each.entry.gist), _GIST, units).rstrip(".")
    told = " · ".join(filter(None, (exact(gist), where, *map(exact, day))))
    return f"*{_linked(each.entry.item, _TITLE)}*\n{told}"


def _linked(item: Item, most: int) -> str:
    url = first_link(item)
    return link(url if units(url) <= _ADDRESS else "", cut(title(item), most, units))


def _place(channel: str) -> str:
    return "to you" if channel.startswith(_DIRECT) else f"in <#{channel}>"


def _add_schedules(page: HomePage, found: Home) -> None:
    if not found.subscriptions:
        return
    page.add(header("Schedules"))
    for number, each in enumerate(found.subscriptions):
        choices = _choices(each, may_manage=found.may_manage)
        made = section(_schedule_text(each), choices)
        if choices.element is None:
            row = actions(f"in:{each.channel}:end{number}", each.buttons)
            page.add([*made, *row.blocks])
        else:
            page.add(_named(made, f"in:{each.channel}:schedule{number}"), choices)
    if found.further:
        page.add(
            context_line(f"And {counted(found.further, 'further subscription')}: All subscriptions, in the menu above.")
        )


def _choices(each: HomeSubscription, *, may_manage: bool) -> Menu:
    """Return what may be done with a subscription; what ends it stands last."""
    made = menu(each.buttons)
    if not (may_manage and each.can_edit):
        return made
    form = FormRequest(FormKind.SUBSCRIPTION, each.topic, rhythm=each.rhythm)
    return _with_options(made, [form_option(form, "Edit…")], len(each.buttons) - 1)


def _schedule_text(each: HomeSubscription) -> str:
    return f"*{exact(clean(each.title))}* {_place(each.channel)} · {mrkdwn(each.line)['text']}"


def _add_saved(page: HomePage, found: Home) -> None:
    if not found.saved:
        return
    page.add(header("Saved"))
    said = "\n".join(f"• {_linked(item, _SAVED_TITLE) if item else exact(clean(key))}" for key, item in found.saved)
    (every,) = _pressed([replace(found.every_saved, label=f"All {found.saved_in_all}")])
    page.add([{**block, "accessory": every, "block_id": "saved"} for block in section(said)])


def _named(blocks: Iterable[Block], name: str) -> Iterator[Block]:
    for each in blocks:
        yield {**each, "block_id": name}
