"""What stands in the forms of every platform, as text: one thing a line, a weight before what it is of. Pure."""

from bot.errors import UsageError
from bot.models import Interest


def interest_line(interest: Interest) -> str:
    """Return an interest as it stands in a form: 2.5 "prefix caching"."""
    return f"{interest.weight:g} {interest.clause}"


def read_interest(text: str) -> Interest:
    """Return the interest that a line says, whose weight may be left out; raises UsageError for a weight alone."""
    first, _, rest = text.partition(" ")
    try:
        weight = float(first)
    except ValueError:
        return Interest(text)
    if not rest.strip():
        raise UsageError(f"“{text}” is a weight without words: write for example 2.5 prefix caching.")
    return Interest(rest.strip(), weight)


def lines(text: str) -> tuple[str, ...]:
    """Return the lines of a field that say something, each once."""
    return tuple(dict.fromkeys(filter(None, (each.strip() for each in text.splitlines()))))
