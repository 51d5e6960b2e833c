"""What the app is offered at all: by its scopes, and by its manifest where there is one."""

from collections.abc import Collection
from dataclasses import dataclass

from tests.fakes.slack import scopes
from tests.fakes.slack.state import Json


class NotOffered(AssertionError):  # noqa: N818 - the name says what happened
    """Slack does not offer this to anybody: no such command or shortcut, or no right to it."""


@dataclass(slots=True)
class Rights:
    """What is offered; without a manifest everything that the scopes allow."""

    manifest: Json | None = None

    def demand_command(self, name: str, granted: Collection[str]) -> None:
        if "commands" not in granted:
            raise NotOffered("the app has no scope commands")
        listed = self._features("slash_commands")
        if listed is not None and name not in {each["command"] for each in listed}:
            raise NotOffered(f"the manifest lists no {name}")

    def demand_shortcut(self, callback_id: str, kind: str) -> None:
        listed = self._features("shortcuts")
        if listed is not None and (callback_id, kind) not in {(each["callback_id"], each["type"]) for each in listed}:
            raise NotOffered(f"the manifest lists no shortcut {callback_id} of a {kind}")

    def demand_step(self, callback_id: str) -> Json:
        """Return the step as the manifest has it: whoever builds a workflow sees no other."""
        made = self.manifest or {}
        listed = made.get("functions", {})
        if callback_id not in listed:
            raise NotOffered(f"the manifest lists no function {callback_id}")
        settings = made.get("settings", {})
        if settings.get("function_runtime") != "remote" or not settings.get("org_deploy_enabled"):
            raise NotOffered(
                "the manifest does not say that the app runs elsewhere and may be installed for an organisation"
            )
        found: Json = listed[callback_id]
        return found

    def demand_pane(self, granted: Collection[str]) -> None:
        if self.manifest is not None and "agent_view" not in self.manifest.get("features", {}):
            raise NotOffered("the manifest has no agent_view")
        if "assistant:write" not in granted:
            raise NotOffered("the app has no scope assistant:write")

    def allows_event(self, what: Json, granted: Collection[str]) -> bool:
        """Say whether the app hears of such an event; of a message, by the kind of conversation that it stands in."""
        kind = f"message.{what['channel_type']}" if what["type"] == "message" else what["type"]
        if scopes.EVENTS.get(kind, "") not in ("", *granted):
            return False
        if self.manifest is None:
            return True
        subscribed = self.manifest.get("settings", {}).get("event_subscriptions", {}).get("bot_events", [])
        return kind in subscribed

    def _features(self, name: str) -> list[Json] | None:
        return None if self.manifest is None else self.manifest.get("features", {}).get(name, [])
