"""What the app asks of Slack, each with its reason: the one table behind the manifest, the listeners and the documentation.

A need that hangs on a setting is asked for only where that setting is on: `when` names it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from adapters.slack.install import steps
from bot.settings.chat import SlackSettings

COMMAND = "/digest"
FIND_SIMILAR = "find_similar"  # callback identifiers of the shortcuts
SEARCH = "search_papers"


@dataclass(frozen=True, slots=True)
class AppPermission:
    """A scope, or an event with the scopes that Slack demands for it."""

    name: str
    reason: str
    when: str = ""  # the setting of [slack] that it hangs on; "": always
    scopes: tuple[str, ...] = ()  # of an event; Slack sends it where any one of them is granted


@dataclass(frozen=True, slots=True)
class Shortcut:
    """An entry of Slack's shortcut menu, or of a message's."""

    name: str  # at most 24 characters
    callback: str
    description: str
    on_message: bool


SHORTCUTS = (
    Shortcut("Find similar papers", FIND_SIMILAR, "Show what resembles the paper or repository that a message links", True),
    Shortcut("Search papers", SEARCH, "Search everything that was collected", False),
)

SCOPES = (
    AppPermission("commands", "the command /digest and the shortcuts"),
    AppPermission("chat:write", "post digests, and answers that nobody else sees"),
    AppPermission(
        "channels:read", "know a public channel's name and who is in it; hear that it is archived, renamed, or left"
    ),
    AppPermission("groups:read", "the same for private channels that the app was invited to"),
    AppPermission("im:read", "recognise the direct message in which somebody gives a command"),
    AppPermission("mpim:read", "the same for group messages"),
    AppPermission(
        "im:write", "open a direct message: who subscribed something is told there what keeps it from being posted"
    ),
    AppPermission("users:read", "whether somebody administers the workspace, and in which time zone they are"),
    AppPermission(
        "channels:history", "look whether a digest whose answer was lost stands in the channel, before it is sent again"
    ),
    AppPermission("groups:history", "the same in private channels"),
    AppPermission("im:history", "the same in direct messages with the app; hear what somebody writes to it there"),
    AppPermission("app_mentions:read", "hear what somebody says to the app by mentioning it; nothing else in a channel"),
    AppPermission("assistant:write", "stand in Slack's pane for agents", "agent"),
    AppPermission("files:write", "hand over an export of saved papers as a file, and the pictures of `trends`"),
    AppPermission(
        "channels:join",
        "join a public channel that somebody subscribed, instead of asking for an invitation",
        "join_channels",
    ),
    AppPermission("reactions:read", "count 👍 and 👎 on an entry as feedback", "reactions"),
    AppPermission("links:read", "hear of links to papers and repositories", "link_previews"),
    AppPermission("links:write", "show a summary below such a link", "link_previews"),
)

_CHANNELS, _GROUPS = ("channels:read",), ("groups:read",)

EVENTS = (
    AppPermission("app_home_opened", "show the Home tab when somebody opens it"),
    AppPermission("app_mention", "answer who mentions the app in a channel or a thread", scopes=("app_mentions:read",)),
    AppPermission("message.im", "answer who writes to it directly", scopes=("im:history",)),
    AppPermission("app_context_changed", "comes with Slack's pane for agents; nothing of it is read", "agent"),
    AppPermission("app_uninstalled", "stop at once where the app was removed, and forget its token"),
    AppPermission("tokens_revoked", "the same where its token was revoked"),
    AppPermission("team_access_revoked", "the same where an organisation took the app out of one workspace"),
    AppPermission("team_access_granted", "go on where an organisation let the app into one again"),
    AppPermission("channel_archive", "pause what is posted to a channel that was archived", scopes=_CHANNELS),
    AppPermission("channel_unarchive", "go on in one that was unarchived", scopes=_CHANNELS),
    AppPermission("channel_deleted", "pause what is posted to a channel that was deleted", scopes=_CHANNELS),
    AppPermission("channel_left", "the same for one that the app left", scopes=_CHANNELS),
    AppPermission(
        "channel_rename",
        "say in the log that a channel has another name; subscriptions hang on its identifier",
        scopes=_CHANNELS,
    ),
    AppPermission("group_archive", "as `channel_archive`, for private channels", scopes=_GROUPS),
    AppPermission("group_unarchive", "as `channel_unarchive`, for private channels", scopes=_GROUPS),
    AppPermission("group_deleted", "as `channel_deleted`, for private channels", scopes=_GROUPS),
    AppPermission("group_left", "as `channel_left`, for private channels", scopes=_GROUPS),
    AppPermission("group_rename", "as `channel_rename`, for private channels", scopes=_GROUPS),
    AppPermission(
        "member_left_channel", "notice that the app itself was removed from a channel", scopes=_CHANNELS + _GROUPS
    ),
    AppPermission(
        "member_joined_channel",
        "greet, once, the channel that the app itself was invited to; go on where it was invited again",
        scopes=_CHANNELS + _GROUPS,
    ),
    AppPermission("reaction_added", "feedback by 👍 and 👎", "reactions", ("reactions:read",)),
    AppPermission("reaction_removed", "take that feedback back", "reactions", ("reactions:read",)),
    AppPermission("link_shared", "previews of links", "link_previews", ("links:read",)),
    AppPermission(steps.EVENT, "answer a step that a workflow executes", "workflow_steps"),
)


def scopes(settings: SlackSettings) -> tuple[str, ...]:
    """Return the scopes that the app needs with these settings."""
    return _names(SCOPES, settings)


def events(settings: SlackSettings) -> tuple[str, ...]:
    """Return the events that the app listens to with these settings."""
    return _names(EVENTS, settings)


def _names(needs: Iterable[AppPermission], settings: SlackSettings) -> tuple[str, ...]:
    return tuple(need.name for need in needs if not need.when or getattr(settings, need.when))
