"""The server that everyone can reach: of many connections some are heard, and none waits for ever."""

import asyncio
import socket

import aiohttp
import pytest
from aiohttp import web

from adapters.http_server import serving
from bot.errors import SettingsError
from tests.fakes.patience import PATIENCE


def _application() -> web.Application:
    async def hello(_: web.Request) -> web.Response:
        return web.Response(text="hello")

    application = web.Application()
    application.router.add_get("/", hello)
    return application


async def _get(port: int) -> str:
    async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/") as response:
        return await response.text()


async def test_more_connections_than_there_is_room_for_are_closed_and_then_there_is_room_again() -> None:
    async with serving(_application(), "127.0.0.1", 0, str, most=2) as (_, port):
        idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        refused = await asyncio.open_connection("127.0.0.1", port)
        assert await asyncio.wait_for(refused[0].read(), PATIENCE) == b""
        for _, writer in (*idle, refused):
            writer.close()
            await writer.wait_closed()
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    assert await _get(port) == "hello"
                    break
                except aiohttp.ClientError:  # the server has not seen yet that they are closed
                    await asyncio.sleep(0)


async def test_who_says_nothing_makes_room_in_time() -> None:
    async with serving(_application(), "127.0.0.1", 0, str, slowest=0.2, most=1) as (_, port):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        assert await asyncio.wait_for(reader.read(), PATIENCE) == b""
        assert await _get(port) == "hello"
        writer.close()
        await writer.wait_closed()


async def test_an_address_that_is_taken_is_said_in_the_words_of_who_serves() -> None:
    async with serving(_application(), "127.0.0.1", 0, str) as (host, port):
        with pytest.raises(SettingsError, match=r"^No page there: .*in use$"):
            async with serving(_application(), host, port, lambda why: f"No page there: {why}"):
                pass


async def test_who_does_not_take_the_answer_makes_room_in_time() -> None:
    application = _application()

    async def much(_: web.Request) -> web.Response:
        return web.Response(body=bytes(2**24))  # more than all that waits between two sockets

    application.router.add_get("/much", much)
    async with serving(application, "127.0.0.1", 0, str, longest=0.5, most=1) as (_, port):
        with socket.create_connection(("127.0.0.1", port)) as idle:
            idle.sendall(b"GET /much HTTP/1.1\r\nHost: x\r\n\r\n")
            async with asyncio.timeout(PATIENCE):
                while True:
                    try:
                        assert await _get(port) == "hello"
                        break
                    except aiohttp.ClientError:  # there is no room yet
                        await asyncio.sleep(0.05)
