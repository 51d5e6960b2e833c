"""A Slack on the loopback interface: real sockets, state, and as strict as the documentation says.

    from tests.fakes import slack

    async with slack.running() as fake:
        fake.api_url, fake.bot_token, fake.app_token, fake.signing_secret      # for SlackSettings
        fake.anna (an administrator), fake.ben; fake.general (the app is in it), fake.random (it is not),
        fake.secret (private, it is not), fake.old (archived), fake.team ("T0BROAD")

What a test may do, over Socket Mode, or over signed HTTP after `fake.delivers_to(url)`:

    await fake.connected()                            # until a socket is open
    asked = await fake.command("search moe", user=fake.ben, channel=fake.random)   # acknowledged in asked.seconds
    message = await asked.answer()                    # the first message that answers; `answer(2)` the second
    asked = await fake.click(message, "Save")         # a button, or an entry of a ⋯ menu, by its label
    asked = await fake.choose(view, "Topic", "gpu")   # a select, picker, checkbox or typed text that reports at once
    view = await asked.view()                         # the modal that was opened, pushed or updated by it
    asked = await fake.submit(view, {"Name": "moe"})  # by label, action_id or block_id; view.errors, view.is_open
    options = await fake.options(view, "Zone", "Zur") # of an external select
    await fake.shortcut("find_similar", message=message), fake.close(view), fake.open_home(user), fake.event({...})
    await fake.react(message, "+1"), fake.unreact, fake.archive(channel), fake.unarchive, fake.rename, fake.delete_channel,
    await fake.kick(channel), fake.share(channel, text), fake.write(channel, text), fake.edit(message, text), fake.revoke(),
    fake.uninstall()
    fake.authorise(address)                           # what a person does on the page "Add to Slack": where it leads back to

A command, click or submission that nobody acknowledged in 3 s raises `NotAcknowledged`; `fake.missed` has them all.

What it holds: `fake.messages(channel)`, `fake.seen_by(user)` (private answers), `fake.home(user)`, `fake.files`,
`fake.requests` (every call of the Web API, with its error), `fake.rejected` (those that were not acceptable: arguments,
blocks, views), `fake.mentions` (live mentions in what notifies). `await fake.until(condition)` waits for any of it.

How it fails: `fake.fail("chat.postMessage", Failure(...))` for the next call or calls, also of a "response_url", and of the
"upload" of a file's bytes; `fake.fail_until(time, Failure(...))` for everything; for posts a seeded
tests.fakes.platform.Behaviour (its `resets`, `halves`, `stalls`, `broken`, `limited`, `lag`, …), with `answers=True` for all
that answers people too; `running(tiers=False)` counts no requests; `fake.silence()`, `fake.drop()`,
`fake.disconnect(reason)`, `fake.down = True` for the socket.
`running(manifest=…)` gives the app only the scopes, events, commands and shortcuts that the manifest names.
"""

from tests.fakes.slack.faults import Failure
from tests.fakes.slack.rights import NotOffered
from tests.fakes.slack.running import FakeSlack, running
from tests.fakes.slack.state import Channel, Kind, Message, Person, Team, View
from tests.fakes.slack.telling import NotAcknowledged, NotHeard

__all__ = [
    "Channel",
    "Failure",
    "FakeSlack",
    "Kind",
    "Message",
    "NotAcknowledged",
    "NotHeard",
    "NotOffered",
    "Person",
    "Team",
    "View",
    "running",
]
