"""What an operator copies from config/ to install it: the compose file and the unit of systemd."""

import configparser
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from adapters.cli.exits import Exit
from bot.settings.load import secret_names

ROOT = Path(__file__).parents[1]
SCHEMA = ROOT / "tests" / "payloads" / "compose" / "compose-spec.json"
UNIT = ROOT / "config" / "broadsheet.service"
INSTALL = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "config" / "compose.yaml").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def unit() -> dict[str, list[str]]:
    """Every directive with its values: one may be given several times."""
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r"^(\w+)=(.*)$", UNIT.read_text(encoding="utf-8"), re.MULTILINE):
        found.setdefault(name, []).append(value)
    return found


def test_the_compose_file_is_what_the_specification_describes(compose: dict[str, Any]) -> None:
    schema = jsonschema_rs.validator_for(json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert [error.message for error in schema.iter_errors(compose)] == []
    wrong = {**compose, "services": {"broadsheet": {**compose["services"]["broadsheet"], "healthchek": {}}}}
    assert not schema.is_valid(wrong)


def test_it_is_one_service_that_can_do_little_and_keeps_its_data(compose: dict[str, Any]) -> None:
    (service,) = compose["services"].values()
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "ports" not in service
    (volume,) = service["volumes"]
    name, _, place = volume.partition(":")
    assert name in compose["volumes"]
    assert place in re.findall(r"^VOLUME (\S+)", DOCKERFILE, re.MULTILINE)
    environment = dict(re.findall(r"(\w+)=(\S+)", "".join(re.findall(r"^ENV (.+)$", DOCKERFILE, re.MULTILINE))))
    assert {environment[each].split("/")[1] for each in ("BROADSHEET_DATABASE", "XDG_CONFIG_HOME")} == {place.strip("/")}


def test_its_health_check_is_the_images(compose: dict[str, Any]) -> None:
    (service,) = compose["services"].values()
    check = service["healthcheck"]
    assert f"CMD {json.dumps(check['test'][1:])}" in DOCKERFILE
    assert f"--interval={check['interval']} --timeout={check['timeout']}" in DOCKERFILE


def test_every_secret_is_a_file_for_a_setting_that_is_one_and_the_page_makes_it(compose: dict[str, Any]) -> None:
    (service,) = compose["services"].values()
    assert list(compose["secrets"]) == service["secrets"]
    assert {name.replace("_", ".", 1) for name in service["secrets"]} <= secret_names()
    made = next(line for line in INSTALL.splitlines() if line.startswith("$ touch "))
    assert {path.removeprefix("secrets/") for path in made.split()[2:]} == set(service["secrets"])
    for name, secret in compose["secrets"].items():
        assert secret == {"file": f"${{BROADSHEET_SECRETS:-../secrets}}/{name}"}
    assert "secrets/" in (ROOT / ".gitignore").read_text().splitlines()
    assert (ROOT / ".dockerignore").read_text().startswith("**\n"), "what is not named does not come into the image"


def test_every_command_of_compose_in_the_page_names_the_file_and_the_service(compose: dict[str, Any]) -> None:
    lines = re.findall(r"^\$ (docker compose .*)$", INSTALL, re.MULTILINE)
    assert len(lines) >= 4
    for line in lines:
        words = line.split()
        assert words[2:4] == ["-f", "config/compose.yaml"]
        assert words[4] in ("build", "run", "up", "exec")
        assert words[4] in ("build", "up") or set(words) & set(compose["services"])


def test_the_unit_runs_the_service_as_nobody_else_and_lets_it_do_little(unit: dict[str, list[str]]) -> None:
    assert unit["ExecStart"] == ["/usr/local/bin/broadsheet run"]
    assert unit["User"] == unit["Group"] == unit["StateDirectory"] == ["broadsheet"]
    hardened = (
        "NoNewPrivileges",
        "ProtectHome",
        "PrivateTmp",
        "PrivateDevices",
        "MemoryDenyWriteExecute",
        "RestrictNamespaces",
    )
    assert [name for name in hardened if unit[name] != ["true"]] == []
    assert (unit["ProtectSystem"], unit["CapabilityBoundingSet"], unit["UMask"]) == (["strict"], [""], ["0077"])
    assert unit["WorkingDirectory"] == ["/var/lib/broadsheet"]
    assert f"--home-dir {unit['WorkingDirectory'][0]} " in INSTALL


def test_the_unit_stops_and_starts_as_the_service_promises(unit: dict[str, list[str]]) -> None:
    running = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")
    assert f"TimeoutStopSec={unit['TimeoutStopSec'][0]}" in running
    assert unit["Restart"] == ["on-failure"]
    assert unit["RestartPreventExitStatus"] == [f"{Exit.USAGE:d} {Exit.SETTINGS:d}"]


def test_the_unit_can_be_read(tmp_path: Path) -> None:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.read_string(UNIT.read_text(encoding="utf-8"))
    assert parser.sections() == ["Unit", "Service", "Install"]
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd-analyze here")
    # Of all that it says, only the program and the user have to be those of a machine.
    text = UNIT.read_text(encoding="utf-8").replace("/usr/local/bin/broadsheet run", "/bin/true")
    (tmp_path / UNIT.name).write_text(text.replace("=broadsheet\nGroup=broadsheet", "=root\nGroup=root"))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / UNIT.name)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
