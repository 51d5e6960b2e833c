"""The HTTP door against a real server on the loopback interface."""

from bot.http import Http, Request
from tests.fakes.web import Answer, Web


async def test_an_answer_comes_back_with_lower_case_headers_and_its_address(web: Web) -> None:
    web.answer("/x", Answer(b"hello", headers={"ETag": '"1"'}))
    http = Http(user_agent="Broadsheet/1")
    got = await http.fetch(Request(url=web.url + "/x", params=(("q", "a b"),)))
    await http.close()
    assert (got.status, got.body, got.headers["etag"], got.url) == (200, b"hello", '"1"', web.url + "/x?q=a%20b")
    assert web.asked[0].headers["user-agent"] == "Broadsheet/1"
