"""What people did in Slack and what they were shown, as text that one can read."""

from dataclasses import dataclass, field

from tests.fakes.slack import Message, Person, View


@dataclass(slots=True)
class Transcript:
    """Grows a line at a time."""

    lines: list[str] = field(default_factory=list)

    def does(self, who: Person, what: str) -> None:
        """Note what somebody did."""
        self.lines += ["", f"{who.name} {what}"]

    def happens(self, what: str) -> None:
        """Note what nobody did."""
        self.lines += ["", f"({what})"]

    def shown(self, message: Message, to: str) -> None:
        """Note a message as it is read, and what can be pressed in it."""
        self.lines.append(f"  Broadsheet, to {to}:")
        self.lines += [f"  | {line}" for line in message.text.splitlines()]
        self._labels(message.labels)

    def form(self, view: View) -> None:
        """Note a form, with what stands in its fields."""
        self.lines.append(f"  Broadsheet shows the form “{view.title}”:")
        for block in view.blocks:
            if block["type"] == "input":
                kept = view.values[block["block_id"]][block["element"]["action_id"]]
                self.lines.append(f"  | {block['label']['text']}: {_plain(kept)}")

    def _labels(self, labels: list[str]) -> None:
        seen = dict.fromkeys(labels)
        if seen:
            self.lines.append(f"  | {' '.join(f'[{label}]' for label in seen)}")

    def __str__(self) -> str:
        return "\n".join(self.lines).strip() + "\n"


def _plain(kept: dict[str, object]) -> str:
    value = next((value for name, value in kept.items() if name != "type"), None)
    if isinstance(value, dict):
        return str(value["text"]["text"])
    if isinstance(value, list):
        return ", ".join(str(each["text"]["text"]) for each in value)
    return str(value or "")
