"""R9: addresses that lead to what is not the public internet, asked for through the guarded client.

Every form of the tests' list, each in four ways: as the address itself, as where a redirect from an allowed host leads,
as what the name of a feed resolves to, and as what such a name resolves to the second time it is asked. A server on the
loopback interface counts what reaches it.
"""

from collections.abc import Awaitable, Callable, Sequence

from benchmarks.soak.row import Row
from benchmarks.soak.scoreboard import Ask
from bot.errors import SourceUnavailable
from bot.http.client import Request
from tests.bot.http.test_guard import FORMS, Names, door, port
from tests.fakes.web import Answer, Web, serving

_PUBLIC = "1.1.1.1"


async def guarded(ask: Ask) -> Row:
    """Ask for each."""
    forms = FORMS[: ask.size] if ask.size else FORMS
    ways = {"directly": _directly, "by a redirect": _redirected, "by a name": _named, "by a name that changes": _rebound}
    leaks: list[str] = []
    async with serving() as web:
        web.rule(lambda asked: Answer(b"secret") if asked.path == "/secret" else None)
        for form in forms:
            for name, way in ways.items():
                web.asked.clear()
                try:
                    await way(web, form)
                except SourceUnavailable:
                    pass
                else:
                    leaks.append(f"{form} {name} was answered")
                if any(asked.path == "/secret" for asked in web.asked):
                    leaks.append(f"{form} {name} was reached")
    measured = f"{len(leaks)} leaks" + "".join(f"; {each}" for each in leaks[:5])
    return Row("SSRF forms", f"{len(forms)} forms × {len(ways)} ways", "0 leaks", measured, not leaks)


async def _directly(web: Web, form: str) -> None:
    http = door(web)
    try:
        await http.fetch(Request(url=f"http://{form}:{port(web)}/secret"))
    finally:
        await http.close()


async def _redirected(web: Web, form: str) -> None:
    web.answer("/feed", Answer(status=302, headers={"Location": f"http://{form}:{port(web)}/secret"}))
    http = door(web, Names(feed_example=[["127.0.0.1"]]), allow=frozenset({"feed.example"}))
    try:
        await http.fetch(Request(url=f"http://feed.example:{port(web)}/feed"))
    finally:
        await http.close()


async def _named(web: Web, form: str) -> None:
    await _resolving(web, [[await _address(form)]])


async def _rebound(web: Web, form: str) -> None:
    """The first answer is public, and is looked at; the connection must not go to the second."""
    names = Names(feed_example=[[_PUBLIC, await _address(form)]])
    http = door(web, names)
    try:
        await http.fetch(Request(url=f"http://feed.example:{port(web)}/secret"))
    finally:
        await http.close()


async def _resolving(web: Web, answers: Sequence[Sequence[str]]) -> None:
    http = door(web, Names(feed_example=answers))
    try:
        await http.fetch(Request(url=f"http://feed.example:{port(web)}/secret"))
    finally:
        await http.close()


async def _address(form: str) -> str:
    """Return the form as a name server would give it: as an address, where it is one."""
    resolve: Callable[[str, int], Awaitable[Sequence[str]]] = Names()
    try:
        return (await resolve(form.strip("[]"), 80))[0]
    except OSError:
        return "127.0.0.1"
