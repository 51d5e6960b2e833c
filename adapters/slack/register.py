"""Every listener of the app, and what they work with."""

from slack_bolt.async_app import AsyncApp

from adapters.slack import actions, commands, home, modals, previews, reactions, shortcuts, submissions
from adapters.slack.actors import Actors
from adapters.slack.answers import Answers
from adapters.slack.clients import Clients
from adapters.slack.reception import Reception
from adapters.work import Work
from bot.platforms import Line
from bot.settings_chat import SlackSettings

_LISTENING = (commands, actions, modals, submissions, home, shortcuts, previews, reactions)


def register(app: AsyncApp, line: Line, settings: SlackSettings, clients: Clients) -> Work:
    """Make the app hear everything that a person does; return the work that goes on, to be finished before it is closed."""
    work = Work()
    answers = Answers(clients, line.chats, line.clock)
    reception = Reception(line, settings, clients, Actors(clients, line.clock), answers, work)
    for each in _LISTENING:
        each.listen(app, reception)
    return work
