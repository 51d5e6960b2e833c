"""What Discord takes at most (docs.discord.com/developers: resources/message, components/reference)."""

TEXTS = 4000  # characters over all text displays of a message
TEXTS_USED = 3900  # of them: what counts as one character is not said, and both ways of counting stay below
COMPONENTS = 40  # of a message, nested ones too
CONTENT = 2000  # characters of a message without components
CUSTOM_ID = 100
LABEL = 80  # of a button
ROW = 5  # buttons in a row
PLACEHOLDER = 150  # of a select
OPTION = 100  # characters of an option's label
OPTIONS = 25  # of a select
THREAD_NAME = 100
TAG_NAME = 20
TAGS = 5  # of one forum post
NONCE = 25
ALT = 1024  # characters of what a picture shows


def length(text: str) -> int:
    """Return how long Discord may find the text: UTF-16 units, of which there are at least as many as characters."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
