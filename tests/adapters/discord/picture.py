"""What a reader sees of Discord's messages, as text for golden files."""

from typing import Any

from adapters.discord.render.components import DiscordMessage


def picture(postings: list[DiscordMessage]) -> str:
    """Return what a reader sees, as markdown: buttons in brackets, a line between messages."""
    shown = ("\n".join([*(["(in the thread)"] if each.hangs else []), *_lines(each.components)]) for each in postings)
    return "\n==========\n".join(shown) + "\n"


def _lines(components: Any) -> list[str]:
    made: list[str] = []
    for each in components:
        if each["type"] == 17:
            made += _lines(each["components"])
        elif each["type"] == 1:
            made.append(" ".join(_shown(one) for one in each["components"]))
        elif each["type"] == 9:
            made += [*_lines(each["components"]), _shown(each["accessory"])]
        elif each["type"] == 12:
            made += [f"![{one['description']}]({one['media']['url']})" for one in each["items"]]
        elif each["type"] == 14:
            made.append("----------" if each["divider"] else "")
        else:
            made.append(each.get("content") or f"({each['file']['url']})")
    return made


def _shown(one: dict[str, Any]) -> str:
    if "options" not in one:
        return f"[{one['label']}]({one.get('custom_id') or one['url']})"
    return "\n".join([f"[{one['placeholder']} ▾]", *(f"    {each['label']}: {each['value']}" for each in one["options"])])
