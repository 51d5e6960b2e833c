import json
import logging

import pytest

from bot import log

SECRETS = [
    "xoxb-12345-abcdef",
    "xapp-1-A0-abc",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "github_pat_11ABCDEFG0abcdefghijkl_mnop",
    "hf_abcdefghijklmnopqrstuvwxyz",
    "sk-proj-abcdefghijklmnop123456",
]


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_never_reaches_the_log(capsys: pytest.CaptureFixture[str], form: str, secret: str) -> None:
    before = logging.getLogger().handlers[:]
    try:
        log.configure("INFO", form)
        logging.getLogger("test").info("sent %s to https://me:hunter2@host/?token=%s", secret, secret)
        try:
            raise ValueError(f"bad {secret}")
        except ValueError:
            logging.getLogger("test").exception("failed")
    finally:
        logging.getLogger().handlers[:] = before

    written = capsys.readouterr().err
    assert secret not in written
    assert "hunter2" not in written
    assert "host" in written
    if form == "json":
        assert [json.loads(line)["level"] for line in written.splitlines()] == ["info", "error"]
