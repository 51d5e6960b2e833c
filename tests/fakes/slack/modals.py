"""What people do in a modal, and what the app's answer does to it."""

from collections.abc import Iterator, Mapping

from tests.fakes.slack import blocks, inputs, methods_views, payloads
from tests.fakes.slack.exchange import Exchange
from tests.fakes.slack.state import Json, Message, Person, Team, View
from tests.fakes.slack.telling import Teller
from tests.fakes.slack.wrong import Wrong


class Modals(Teller):
    """Filling in, submitting, closing, and asking for what may be chosen."""

    async def submit(
        self, view: View, values: Mapping[str, object] | None = None, *, user: Person | None = None
    ) -> Exchange:
        """Fill a modal in and submit it; what the app answers happens to the view."""
        if not view.is_open:
            raise AssertionError("the view is closed")
        self._fill(view, values or {})
        team = self.world.teams[view.team]
        person = user or self.known(view.user)
        exchange, _ = self._exchange("", person, None, team=team, view=view.id)
        more: Json = {"trigger_id": exchange.trigger, "urls": list(self._ways(team, person, view, exchange))}
        payload = payloads.submission(team, person, self.world.teams[person.team], view, more)
        await self._acknowledge("interactive", payload, exchange)
        self._respond(view, exchange)
        return exchange

    def _ways(self, team: Team, person: Person, view: View, exchange: Exchange) -> Iterator[Json]:
        """Yield an address to answer at for each channel that was chosen where the app asked for one."""
        for block, element in inputs.elements(view.blocks):
            chosen = view.values[block["block_id"]][element["action_id"]].get("selected_conversation")
            if element.get("response_url_enabled") and chosen in team.channels:
                url, exchange.key = self._answers.way("app", person.id, team.channels[chosen], team=team.id)
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
            person = self.known(view.user)
            exchange, _ = self._exchange("", person, None, team=team)
            payload = payloads.closing(team, person, self.world.teams[person.team], view)
            await self._acknowledge("interactive", payload, exchange)

    async def options(self, where: Message | View, what: str, typed: str, *, user: Person | None = None) -> list[Json]:
        """Return what an external select offers for what was typed, as the app gave it."""
        block, element = inputs.found(where.blocks, what)
        team = self.world.teams[where.team]
        person = user or (self.known(where.user) if isinstance(where, View) else self.anna)
        asked = {"action_id": element["action_id"], "block_id": block["block_id"], "value": typed}
        exchange, _ = self._exchange("", person, None, team=team)
        payload = payloads.suggestion(team, person, self.world.teams[person.team], where, asked)
        await self._acknowledge("interactive", payload, exchange)
        offered: list[Json] = exchange.ack.get("options", [])
        groups = exchange.ack.get("option_groups", [])
        every = [*offered, *(each for group in groups for each in group["options"])]
        if every:
            blocks.check_message("", [_select(every[:100])])
        assert len(every) <= 100
        return every


def _select(options: list[Json]) -> Json:
    element = {"type": "static_select", "action_id": "a", "options": options}
    return {"type": "actions", "elements": [element]}
