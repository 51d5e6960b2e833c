"""A Discord on the loopback interface: its REST API, its gateway, and the people who use it.

    async with running() as fake:
        guild = fake.guild("Lab")                       # its owner, guild.owner, is made with it
        papers = fake.channel(guild, "papers")          # kind=Kind.FORUM, tags=("gpu",) for a forum
        anna = fake.join(guild, fake.user("Anna"), Permission.MANAGE_GUILD)
        …                              # connect with fake.api_url, fake.gateway_url, fake.cdn_url, fake.token
        await fake.gateway.heard()
        asked = await fake.slash("digest search", query="kv cache", user=anna, channel=papers)
        assert "KV cache" in asked.text                 # asked.messages, .first, .first_after, .form, .choices
        asked = await fake.click(asked.messages[0], "More like this", user=anna)
        assert fake.wrong == [] and fake.mentions == []

What people do (tests.fakes.discord.actions): slash, autocomplete, menu, click, choose, submit, write, react, unreact,
delete_channel, delete_message, archive, kick, outage; `let` changes what the bot may do in a channel. What asks the bot
waits until there is something to be seen; with `wait=False` for the first reply, with `wait=None` for nothing. What
Discord's own program would not offer raises NotOfferedError. What came of it: `posted(channel)`, `channel.messages`,
`message.text`, `.buttons`, `.selects`; `fake.calls` are all requests, `fake.committed` all messages of the bot,
`fake.counts` how many of which.

`set_interactions_endpoint(url)` has interactions sent over HTTP, signed, instead of over the gateway; `resend(asked)` sends
one again.

What goes wrong: `befall("POST /channels", fault=Fault.RESET, commits=True)` for single requests — every Fault, `status=503`,
`code=50013`, `via=False`, `scope="shared"`, `page=True` for a page of Cloudflare's, `status=204` with a BROKEN one for an
answer without its body; a Behaviour with shares for many, drawn by a seed and the nonce, with `answers` for what answers
interactions too, drawn by the interaction's number; `limits.ban(seconds)`; `gateway.drop()`, `.invalidate()`,
`.ask_to_reconnect()`, `.end_clients()`, `.is_deaf`, `.is_down`, `.forget()`; `.garble["GUILD_CREATE"]` changes what is told
of it, and `.send_event(name, data)` tells anything, as tests.fakes.discord.malformed draws it; `clock` may be exchanged, so
that 15 minutes pass at once.

Every request and every reply is held against Discord's OpenAPI description and the rules it lacks. What breaks them is in
`fake.wrong`, and a request is refused for it with 50035. Text that would notify somebody is in `fake.mentions`.

Switches: `privileged` (intents), `shards`, `max_concurrency`, `identifies_left`, `archived_threads_refuse`,
`user.is_closed`, `user.locale`. `gateway.connected` are the shards that are connected, `.too_soon` counts IDENTIFYs that
came before their turn, `.doubled` are shards of which two sessions were connected at a time.
Figures that Discord does not tell are ours and may be set: the buckets (`limits.buckets`), how long nonces are remembered
(`behaviour.remembers`, seconds), the pause between two IDENTIFYs (`gateway.identify_every`, off).
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.typedefs import Middleware

from tests.fakes.discord import channels, interactions, people
from tests.fakes.discord.actions import NotOfferedError
from tests.fakes.discord.asked import Answer, Asked, Doing
from tests.fakes.discord.calls import ROUTES
from tests.fakes.discord.fake import FakeDiscord, Trouble
from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.things import Channel, Guild, Kind, Message, User
from tests.fakes.platform import Behaviour, Fault

__all__ = [
    "Answer",
    "Asked",
    "Behaviour",
    "Channel",
    "Doing",
    "FakeDiscord",
    "Fault",
    "Guild",
    "Kind",
    "Message",
    "NotOfferedError",
    "Permission",
    "Trouble",
    "User",
    "channels",
    "interactions",
    "people",
    "running",
]

ORDINARY = Behaviour(takes=(0.0, 0.0), remembers=180.0, per_second=50)


@asynccontextmanager
async def running(behaviour: Behaviour = ORDINARY, *, before: Sequence[Middleware] = ()) -> AsyncIterator[FakeDiscord]:
    """Run one on a free port of 127.0.0.1; `before` is what every request meets before it comes to Discord."""
    fake = FakeDiscord(behaviour)
    app = web.Application(client_max_size=26 * 1024 * 1024, middlewares=before)
    # The more words a path has in itself, the earlier it is asked: @original before any message.
    for each in sorted(ROUTES, key=lambda route: route.path.count("{")):
        app.router.add_route(each.method, "/api/v10" + each.path, fake.answering(each))
    app.router.add_get("/gateway", fake.gateway.serve)
    app.router.add_get("/gateway/", fake.gateway.serve)
    app.router.add_get("/cdn/{path:.*}", _picture)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
    await site.start()
    fake.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield fake
    finally:
        fake.gateway.drop()
        await runner.cleanup()


async def _picture(_: web.Request) -> web.Response:
    return web.Response(body=b"\x89PNG\r\n\x1a\n", content_type="image/png")
