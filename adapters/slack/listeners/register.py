"""Every listener of the app, and what they work with."""

from slack_bolt.async_app import AsyncApp

from adapters.slack.client.clients import Clients
from adapters.slack.forms import modals, submissions
from adapters.slack.listeners import buttons, home, link_previews, reactions, shortcuts, slash_command
from adapters.slack.listeners.actors import Actors
from adapters.slack.listeners.answers import Answers
from adapters.slack.listeners.context import Reception
from adapters.tasks import Work
from bot.service.platforms import PlatformContext
from bot.settings.chat import SlackSettings

_LISTENING = (slash_command, buttons, modals, submissions, home, shortcuts, link_previews, reactions)


def register(app: AsyncApp, line: PlatformContext, settings: SlackSettings, clients: Clients) -> Work:
    """Make the app hear everything that a person does; return the work that goes on, to be finished before it is closed."""
    work = Work()
    answers = Answers(clients, line.chats, line.clock)
    reception = Reception(line, settings, clients, Actors(clients, line.clock), answers, work)
    for each in _LISTENING:
        each.listen(app, reception)
    return work
