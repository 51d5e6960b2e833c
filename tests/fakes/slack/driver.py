"""What people do in Slack, and what Slack tells the app of it."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from tests.fakes.slack import blocks, inputs, methods_views, payloads
from tests.fakes.slack.answers import Answers
from tests.fakes.slack.exchange import PATIENCE, Deliver, Exchange, until
from tests.fakes.slack.rights import NotOffered, Rights
from tests.fakes.slack.state import Channel, Json, Message, Person, Team, View, pressable
from tests.fakes.slack.world import World
from tests.fakes.slack.wrong import Wrong

T = TypeVar("T")
ACKNOWLEDGED = 3.0  # seconds within which everything must be


class NotAcknowledged(AssertionError):  # noqa: N818 - the name says what happened
    """The app did not acknowledge in time: a person reads that it did not respond."""


class NotHeard(AssertionError):  # noqa: N818 - the name says what happened
    """Nobody listens: a person reads that the app did not respond."""


class Driver:
    """Everything a person may do with the app; each waits until the app has acknowledged it."""

    anna: Person
    general: Channel

    def __init__(self, world: World, answers: Answers) -> None:
        self.world = world
        self.rights = Rights()
        self.missed: list[tuple[str, Json]] = []  # what was not acknowledged in time, of which kind
        self.patience = ACKNOWLEDGED
        self.retries: tuple[float, ...] = (0.0, 60.0, 300.0)  # seconds before an event is sent again
        self.accepted: list[tuple[str, float]] = []  # kind, and after how many seconds it was acknowledged
        self._answers = answers
        self._deliver: Deliver
        self._later: set[asyncio.Task[None]] = set()

    # --- commands, shortcuts

    async def command(
        self, text: str, *, user: Person | None = None, channel: Channel | None = None, name: str = "/digest"
    ) -> Exchange:
        """Type a slash command."""
        person, place = user or self.anna, channel or self.general
        team = self.world.teams[place.team]
        self.rights.demand_command(name, self._grants(team))
        exchange, url = self._exchange("commands", person, place)
        what = {"command": name, "text": text, "response_url": url, "trigger_id": exchange.trigger}
        payload = payloads.command(team, person, place, what)
        await self._acknowledge("slash_commands", payload, exchange)
        if exchange.ack.get("text") or exchange.ack.get("blocks"):
            self._answers.take(self._answers.ways[exchange.key], exchange.ack)
        return exchange

    async def shortcut(self, callback_id: str, *, user: Person | None = None, message: Message | None = None) -> Exchange:
        """Choose a shortcut, of a message where one is given."""
        person = user or self.anna
        self.rights.demand_shortcut(callback_id, "message" if message else "global")
        team = self.world.teams[person.team]
        more = {"callback_id": callback_id, "action_ts": self.world.times.ts()}
        if message is None:
            exchange, _ = self._exchange("", person, None)
            payload = payloads.global_shortcut(team, person, more | {"trigger_id": exchange.trigger})
        else:
            channel = team.channels[message.channel]
            exchange, url = self._exchange("app", person, channel)
            more |= {"trigger_id": exchange.trigger, "response_url": url}
            payload = payloads.message_shortcut(team, person, channel, message, more)
        await self._acknowledge("interactive", payload, exchange)
        return exchange

    # --- presses

    async def click(self, where: Message | View, label: str, *, user: Person | None = None, nth: int = 1) -> Exchange:
        """Press the (nth) button, or entry of a ⋯ menu, with that label."""
        found = [(element, entry) for name, element, entry in pressable(where.blocks) if name == label]
        if len(found) < nth:
            raise AssertionError(f"there is no {label!r} among {where.labels}")
        element, entry = found[nth - 1]
        action: Json = {"action_id": element.get("action_id", ""), "block_id": element["block_id"], "type": element["type"]}
        if entry is not None:
            action["selected_option"] = {name: entry[name] for name in ("text", "value")}
        else:
            action |= {name: element[name] for name in ("text", "value", "style", "url") if name in element}
        return await self._press(where, action, user)

    async def choose(self, where: Message | View, what: str, value: object, *, user: Person | None = None) -> Exchange:
        """Put a value into something that reports it at once."""
        block, element = inputs.found(where.blocks, what)
        if block["type"] == "input" and not block.get("dispatch_action"):
            raise AssertionError(f"{what!r} reports nothing before it is submitted")
        kept = inputs.state(element, value)
        if isinstance(where, View):
            where.values[block["block_id"]][element["action_id"]] = kept
        action = {"action_id": element["action_id"], "block_id": block["block_id"], **kept}
        return await self._press(where, action, user)

    async def _press(self, where: Message | View, action: Json, user: Person | None) -> Exchange:
        action["action_ts"] = self.world.times.ts()
        more: Json = {"actions": [action]}
        if isinstance(where, View):
            team = self.world.teams[where.team]
            person = user or team.people[where.user]
            exchange, _ = self._exchange("", person, None, view=where.id)
            payload = payloads.view_actions(team, person, where, more | {"trigger_id": exchange.trigger})
        else:
            team = self.world.teams[where.team]
            person = user or (team.people[where.shown_to] if where.shown_to else self.anna)
            channel = team.channels[where.channel]
            exchange, url = self._exchange("actions", person, channel, original=where)
            state = inputs.first_values(where.blocks)
            more |= {"trigger_id": exchange.trigger, "response_url": url, "state": state}
            payload = payloads.message_actions(team, person, channel, where, more)
        await self._acknowledge("interactive", payload, exchange)
        return exchange

    async def options(self, where: Message | View, what: str, typed: str, *, user: Person | None = None) -> list[Json]:
        """Return what an external select offers for what was typed, as the app gave it."""
        block, element = inputs.found(where.blocks, what)
        team = self.world.teams[where.team]
        person = user or (team.people[where.user] if isinstance(where, View) else self.anna)
        asked = {"action_id": element["action_id"], "block_id": block["block_id"], "value": typed}
        exchange, _ = self._exchange("", person, None)
        await self._acknowledge("interactive", payloads.suggestion(team, person, where, asked), exchange)
        offered: list[Json] = exchange.ack.get("options", [])
        groups = exchange.ack.get("option_groups", [])
        every = [*offered, *(each for group in groups for each in group["options"])]
        if every:
            blocks.check_message("", [_select(every[:100])])
        assert len(every) <= 100
        return every

    # --- modals

    async def submit(
        self, view: View, values: Mapping[str, object] | None = None, *, user: Person | None = None
    ) -> Exchange:
        """Fill a modal in and submit it; what the app answers happens to the view."""
        if not view.is_open:
            raise AssertionError("the view is closed")
        self._fill(view, values or {})
        team = self.world.teams[view.team]
        person = user or team.people[view.user]
        exchange, _ = self._exchange("", person, None, view=view.id)
        urls = list(self._ways(team, person, view, exchange))
        await self._acknowledge("interactive", payloads.submission(team, person, view, exchange.trigger, urls), exchange)
        self._respond(view, exchange)
        return exchange

    def _ways(self, team: Team, person: Person, view: View, exchange: Exchange) -> Iterator[Json]:
        """Yield an address to answer at for each channel that was chosen where the app asked for one."""
        for block, element in inputs.elements(view.blocks):
            chosen = view.values[block["block_id"]][element["action_id"]].get("selected_conversation")
            if element.get("response_url_enabled") and chosen in team.channels:
                url, exchange.key = self._answers.way("app", person.id, team.channels[chosen])
                named = {"block_id": block["block_id"], "action_id": element["action_id"]}
                yield {**named, "channel_id": chosen, "response_url": url}

    def _fill(self, view: View, values: Mapping[str, object]) -> None:
        for what, value in values.items():
            block, element = inputs.found(view.blocks, what)
            view.values[block["block_id"]][element["action_id"]] = inputs.state(element, value)
        for block, element in inputs.elements(view.blocks):
            kept = view.values[block["block_id"]][element["action_id"]]
            if block["type"] == "input" and not block.get("optional") and inputs.is_empty(kept):
                raise AssertionError(f"Slack asks for {inputs.label(block, element)!r} before it submits")

    def _respond(self, view: View, exchange: Exchange) -> None:
        """Let the app's answer to a submission happen; raises AssertionError where Slack would show an error instead."""
        kind = exchange.ack.get("response_action", "")
        view.errors = {}
        if kind == "errors":
            view.errors = exchange.ack["errors"]
            fields = {block["block_id"] for block in view.blocks if block["type"] == "input"}
            assert set(view.errors) <= fields, f"errors at {set(view.errors) - fields}, which are no inputs"
            assert view.errors
        elif kind in ("update", "push"):
            self._show(view, exchange, pushes=kind == "push")
        else:
            assert kind in ("", "clear"), f"{kind!r} is no response_action"
            self._shut(view, everything=kind == "clear")
        self.world.changed()

    def _show(self, view: View, exchange: Exchange, *, pushes: bool) -> None:
        body = exchange.ack["view"]
        try:
            blocks.check_view(body)
            if pushes:
                methods_views.pushed(self.world, body, view, exchange.trigger)
            else:
                methods_views.replaced(self.world, view, body)
        except Wrong as wrong:
            raise AssertionError(f"Slack refuses the view: {wrong.error} {wrong.told}") from wrong

    def _shut(self, view: View, *, everything: bool) -> None:
        for each in self.world.views.values():
            if each is view or (everything and each.root == view.root):
                each.is_open = False

    async def close(self, view: View) -> None:
        """Close a modal; the app hears of it where it asked to."""
        view.is_open = False
        self.world.changed()
        if view.body.get("notify_on_close"):
            team = self.world.teams[view.team]
            person = team.people[view.user]
            exchange, _ = self._exchange("", person, None)
            await self._acknowledge("interactive", payloads.closing(team, person, view), exchange)

    # --- events

    async def event(self, what: Json, *, team: Team | None = None, event_id: str = "") -> str:
        """Send an event, and again where it is not acknowledged, later; return its id. One that is not to be sent is not."""
        where = team or self.world.teams[self.general.team]
        payload = payloads.event(where, what, event_id=event_id, at=self.world.now)
        if self.rights.allows_event(what["type"], self._grants(where)):
            await self._event(payload)
        return str(payload["event_id"])

    async def _event(self, payload: Json) -> None:
        if not await self._event_arrives(payload, 0):
            task = asyncio.create_task(self._again(payload))
            self._later.add(task)
            task.add_done_callback(self._later.discard)

    async def _again(self, payload: Json) -> None:
        for attempt, wait in enumerate(self.retries, start=1):
            await asyncio.sleep(wait)
            if await self._event_arrives(payload, attempt):
                return

    async def _event_arrives(self, payload: Json, attempt: int) -> bool:
        try:
            return await self._send("events_api", payload, attempt, "timeout" if attempt else "") is not None
        except NotHeard:
            self.missed.append(("events_api", payload))
            return False

    # --- how it gets there

    async def until(self, found: Callable[[], T | None], within: float = PATIENCE) -> T:
        """Return what `found` gives as soon as it is anything true; raises TimeoutError."""
        return await until(self.world, found, within)

    def _exchange(
        self, kind: str, person: Person, channel: Channel | None, *, view: str = "", original: Message | None = None
    ) -> tuple[Exchange, str]:
        url, key = self._answers.way(kind, person.id, channel, original) if channel else ("", "")
        trigger = self.world.trigger(person.id, person.team, view)
        begun = self.world.times.count()
        return Exchange(self.world, user=person.id, key=key, trigger=trigger, begun=begun), url

    async def _acknowledge(self, kind: str, payload: Json, exchange: Exchange) -> None:
        begun = time.monotonic()
        ack = await self._send(kind, payload, 0, "")
        exchange.seconds = time.monotonic() - begun
        if ack is None:
            raise NotAcknowledged(f"{payload.get('command', payload.get('type'))} was not acknowledged")
        exchange.ack = ack

    async def _send(self, kind: str, payload: Json, attempt: int, reason: str) -> Json | None:
        begun = time.monotonic()
        try:
            ack = await self._deliver(kind, payload, self.patience, attempt, reason)
        except LookupError as error:
            raise NotHeard(str(error)) from error
        if ack is None:
            self.missed.append((kind, payload))
        else:
            self.accepted.append((kind, time.monotonic() - begun))
        return ack

    def _grants(self, team: Team) -> frozenset[str]:
        """Return the scopes that the app has in a workspace."""
        every = [each.scopes for each in self.world.grants.values() if team in self.world.reachable(each)]
        return frozenset().union(*every)


def _select(options: list[Json]) -> Json:
    element = {"type": "static_select", "action_id": "a", "options": options}
    return {"type": "actions", "elements": [element]}


__all__ = ["Driver", "NotAcknowledged", "NotHeard", "NotOffered"]
