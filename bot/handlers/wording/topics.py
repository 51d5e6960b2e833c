"""The parts of a topic in words."""

from bot.commands import CreateTopic, DeleteTopic, EditTopic, Filter, FilterAction, Part, Scope, write
from bot.handlers.clauses import clause_text
from bot.handlers.wording.replies import one_line
from bot.models import Interest, Topic
from bot.query import parse
from bot.settings.topic_packs import new_in_pack

PART_NAMES = {
    **{part: part.value for part in Part},
    Part.MIN: "bar",
    Part.INTEREST: "interests",
    Part.EXAMPLE: "examples",
    Part.REPOSITORIES: "repository searches",
}
LIST_PARTS = (Part.INTEREST, Part.EXAMPLE, Part.REPOSITORIES)  # added to and taken from; the others are replaced


def part_values(topic: Topic, part: Part) -> tuple[str, ...]:
    """Return what the part consists of, as it would be typed; one text for a part that is no list."""
    match part:
        case Part.INTEREST:
            return tuple(f"weight {each.weight:g} {each.clause}" for each in topic.interests)
        case Part.EXAMPLE:
            return topic.examples
        case Part.REPOSITORIES:
            return topic.repositories
        case Part.SOURCES:
            return (", ".join(topic.sources) or "all",)
        case Part.CATEGORIES:
            return (", ".join(topic.categories) or "none",)
        case Part.MIN:
            return (f"{topic.min_score:g}",)
        case Part.QUERY:
            return (one_line(topic.query.text) or "*",)
        case Part.TITLE:
            return (topic.title,)
        case Part.DESCRIPTION:
            return (topic.description,)


def definition(topic: Topic) -> str:
    """Return the commands that make the topic again, one a line."""
    name = topic.name
    lines = [write(CreateTopic(name, query=part_values(topic, Part.QUERY)[0]))]
    for part in (Part.TITLE, Part.DESCRIPTION, Part.SOURCES, Part.CATEGORIES, Part.MIN):
        lines += [write(EditTopic(name=name, part=part, value=value)) for value in part_values(topic, part) if value]
    for each in topic.interests:
        lines.append(write(EditTopic(name=name, part=Part.INTEREST, value=each.clause, weight=each.weight)))
    for part in (Part.EXAMPLE, Part.REPOSITORIES):
        lines += [write(EditTopic(name=name, part=part, value=value)) for value in part_values(topic, part)]
    if topic.filter.text:
        lines.append(write(Filter(name, FilterAction.SET, topic.filter.text, Scope.TOPIC)))
    return "\n".join(lines)


def interest_in_words(interest: Interest) -> str:
    """Return "KV cache × 2.5"."""
    return f"{clause_text(parse(interest.clause).tree)} × {interest.weight:g}"


def bar_in_words(bar: float) -> str:
    """Return "0.24 of relevance": freshness and votes lift nothing over the bar. "none" for 0."""
    return f"{bar:g} of relevance" if bar else "none"


def new_in_words(own: Topic, pack: Topic | None) -> str:
    """Return what a workspace's own copy of a pack lacks of the pack as it is now, and how to take it; "" for nothing."""
    lacks = new_in_pack(own, pack) if pack and own.revision else ""
    if not lacks:
        return ""
    back = write(DeleteTopic(own.name))
    return f"{own.name} comes with {lacks} now, which this copy lacks. *{back}* gives the copy up for that."


def copied_in_words(topic: Topic) -> str:
    """Return what it means that a pack has become the workspace's own."""
    back = write(DeleteTopic(topic.name))
    return (
        f"{topic.name} comes with Broadsheet; you have your own copy from now on, which newer versions do not "
        f"change. *{back}* goes back to the original."
    )
