"""What people do in Slack."""

from tests.fakes.slack import inputs, payloads
from tests.fakes.slack.exchange import Exchange
from tests.fakes.slack.modals import Modals
from tests.fakes.slack.rights import NotOffered
from tests.fakes.slack.state import Channel, Json, Message, Person, Team, View, pressable


class Driver(Modals):
    """Everything a person may do with the app; each waits until the app has acknowledged it."""

    # --- commands, shortcuts

    async def command(
        self, text: str, *, user: Person | None = None, channel: Channel | None = None, name: str = "/digest"
    ) -> Exchange:
        """Type a slash command: that of the person's own workspace, in a channel that it has."""
        person, place = user or self.anna, channel or self.general
        team = self.world.teams[person.team if person.team in place.teams else place.team]
        self.rights.demand_command(name, self._grants(team))
        self._demand_installed(team, person)
        exchange, url = self._exchange("commands", person, place, team=team)
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
        self._demand_installed(team, person)
        more = {"callback_id": callback_id, "action_ts": self.world.times.ts()}
        if message is None:
            exchange, _ = self._exchange("", person, None, team=team)
            payload = payloads.global_shortcut(team, person, more | {"trigger_id": exchange.trigger})
        else:
            channel = team.channels[message.channel]
            exchange, url = self._exchange("app", person, channel, team=team)
            more |= {"trigger_id": exchange.trigger, "response_url": url}
            payload = payloads.message_shortcut(team, person, channel, message, more)
        await self._acknowledge("interactive", payload, exchange)
        return exchange

    def _demand_installed(self, team: Team, person: Person) -> None:
        """Raise NotOffered to somebody in whose workspace the app is not: commands and shortcuts are not shared."""
        if person.team != team.id or not self.world.is_installed(team):
            raise NotOffered("the app is not installed in the person's own workspace")

    # --- presses

    async def click(self, where: Message | View, label: str, *, user: Person | None = None, nth: int = 1) -> Exchange:
        """Press the (nth) button, or entry of a ⋯ menu, with that label."""
        found = [(element, entry) for name, element, entry in pressable(where.blocks) if name == label]
        if len(found) < nth:
            raise AssertionError(f"there is no {label!r} among {where.labels}")
        element, entry = found[nth - 1]
        action: Json = {"action_id": element.get("action_id", ""), "block_id": element["block_id"], "type": element["type"]}
        if entry is not None:
            # One that leads to an address is told of as well, without the address.
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
            person = user or self.known(where.user)
            exchange, _ = self._exchange("", person, None, team=team, view=where.id)
            more |= {"trigger_id": exchange.trigger}
            payload = payloads.view_actions(team, person, self.world.teams[person.team], where, more)
        else:
            team = self.world.teams[where.team]
            person = user or (self.known(where.shown_to) if where.shown_to else self.anna)
            channel = team.channels[where.channel]
            exchange, url = self._exchange("actions", person, channel, team=team, original=where)
            state = inputs.first_values(where.blocks)
            more |= {"trigger_id": exchange.trigger, "response_url": url, "state": state}
            payload = payloads.message_actions(team, person, channel, where, more)
        await self._acknowledge("interactive", payload, exchange)
        return exchange
