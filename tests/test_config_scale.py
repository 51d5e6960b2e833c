"""What an operator copies from config/ to run many processes: compose file, balancer, settings, unit of systemd."""

import configparser
import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any, get_args

import jsonschema_rs
import pytest
import yaml

from adapters.cli.exits import Exit
from bot.settings.load import Settings, load
from bot.settings.sections import ROLES, Role
from tests.test_config import DOCKERFILE, ROOT, SCHEMA

COMPOSE = yaml.safe_load((ROOT / "config" / "compose.scale.yaml").read_text(encoding="utf-8"))
SETTINGS = ROOT / "config" / "broadsheet.scale.toml"
BALANCER = (ROOT / "config" / "Caddyfile").read_text(encoding="utf-8")
SCALING = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")
UNIT = ROOT / "config" / "broadsheet@.service"
OURS: dict[str, dict[str, Any]] = {
    name: service for name, service in COMPOSE["services"].items() if service["image"] == "broadsheet-scale"
}
PROCESSES = {name: service for name, service in OURS.items() if name != "migrate"}
DATABASE = "postgresql://broadsheet:password@postgres/broadsheet"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The settings as a process of the compose file reads them, its secrets in a folder of the test's."""
    for secret in COMPOSE["secrets"]:
        (tmp_path / secret).write_text(DATABASE if secret == "database" else "")
    for name, value in PROCESSES["front"]["environment"].items():
        monkeypatch.setenv(name, value.replace("/run/secrets", str(tmp_path)))
    monkeypatch.delenv("BROADSHEET_CONFIG")
    return load(SETTINGS)


def roles(service: dict[str, Any]) -> list[Role]:
    """The roles that the command of a service names; each has to be one."""
    run, option, names = service["command"]
    assert (run, option) == ("run", "--roles")
    assert set(names.split(",")) <= set(get_args(Role))
    return [each for each in ROLES if each in names.split(",")]


def test_the_compose_file_is_what_the_specification_describes() -> None:
    schema = jsonschema_rs.validator_for(json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert [error.message for error in schema.iter_errors(COMPOSE)] == []
    assert not schema.is_valid({**COMPOSE, "services": {"front": {**COMPOSE["services"]["front"], "replica": 2}}})


def test_every_role_is_in_one_service_and_what_must_go_on_has_two_containers() -> None:
    assert sorted(role for service in PROCESSES.values() for role in roles(service)) == sorted(ROLES)
    many = {role: service["deploy"]["replicas"] for service in PROCESSES.values() for role in roles(service)}
    assert (many["deliver"], many["front"]) == (2, 2)


def test_every_service_can_do_little_and_takes_no_more_memory_than_it_may() -> None:
    for name, service in COMPOSE["services"].items():
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"]), name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["deploy"]["resources"]["limits"]["memory"], name
        assert "ports" not in service or all(each.startswith("127.0.0.1:") for each in service["ports"]), name
    assert [name for name, service in OURS.items() if "cap_add" in service] == []
    assert COMPOSE["networks"]["database"] == {"internal": True}
    assert COMPOSE["services"]["postgres"]["networks"] == ["database"]
    assert COMPOSE["services"]["balancer"]["networks"] == ["default"]


def test_no_two_containers_share_a_folder_and_each_has_the_one_of_its_settings(settings: Settings) -> None:
    for service in OURS.values():
        (volume,) = service["volumes"]  # one without a name is each container's own
        assert volume in re.findall(r"^VOLUME (\S+)", DOCKERFILE, re.MULTILINE)
        assert settings.database_path.is_relative_to(volume)
    assert list(COMPOSE["volumes"]) == ["postgres"]


def test_processes_begin_when_the_tables_are_there_and_end_as_the_service_promises() -> None:
    for service in PROCESSES.values():
        assert service["depends_on"] == {
            "postgres": {"condition": "service_healthy"},
            "migrate": {"condition": "service_completed_successfully"},
        }
        assert (service["stop_grace_period"], service["restart"]) == ("30s", "unless-stopped")
    assert (OURS["migrate"]["command"], OURS["migrate"]["restart"]) == (["db", "migrate"], "no")
    assert "migrate" not in OURS["migrate"]["depends_on"]


def test_the_image_has_what_postgresql_needs() -> None:
    (built,) = [service["build"] for service in OURS.values() if "build" in service]
    locks = built["args"]["LOCK"].split()
    assert "requirements-postgres.lock" in locks
    assert [lock for lock in locks if lock not in DOCKERFILE or not (ROOT / lock).exists()] == []


def test_the_health_check_asks_where_the_settings_answer(settings: Settings) -> None:
    for service in PROCESSES.values():
        assert service["healthcheck"]["test"][:3] == ["CMD", "python", "-c"]
        program = service["healthcheck"]["test"][3]
        compile(program, "healthcheck", "exec")
        assert f"http://127.0.0.1:{settings.health.port}/readyz" in program
    assert settings.health.host == "0.0.0.0"


def test_the_settings_are_read_with_the_secrets_in_files(settings: Settings) -> None:
    assert settings.database_address == DATABASE
    assert not settings.slack.enabled  # its files are empty
    told = {secret for service in COMPOSE["services"].values() for secret in service.get("secrets", ())}
    assert told == set(COMPOSE["secrets"])
    for name, secret in COMPOSE["secrets"].items():
        assert secret == {"file": f"${{BROADSHEET_SECRETS:-../secrets}}/{name}"}
    made = next(line for line in SCALING.splitlines() if line.startswith("$ touch "))
    assert {path.removeprefix("secrets/") for path in made.split()[2:]} == set(COMPOSE["secrets"])


def test_what_is_set_is_not_what_is_set_anyway(settings: Settings) -> None:
    held = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))
    usual = Settings()
    same = [
        f"{section}.{name}"
        for section, values in held.items()
        if isinstance(values, dict)
        for name, value in values.items()
        if value == getattr(getattr(usual, section), name) and (section, name) != ("postgres", "connections")
    ]
    assert same == [
        "slack.port",
        "slack.client_id",
        "discord.interactions",
        "discord.public_key",
        "discord.port",
        "web.port",
    ]


def test_the_balancer_passes_on_to_the_fronts_where_they_listen(settings: Settings) -> None:
    passed = dict(re.findall(r"handle( /\S+)? \{\n\t\timport front (\d+)\n", BALANCER))
    assert passed == {
        " /slack/*": str(settings.slack.port),
        " /discord/*": str(settings.discord.port),
        "": str(settings.web.port),
    }
    (name,) = re.findall(r"dynamic a (\w+) ", BALANCER)
    assert roles(COMPOSE["services"][name]) == ["front"]
    assert COMPOSE["services"]["balancer"]["depends_on"] == [name]
    (port,) = re.findall(r"^http://:(\d+) \{", BALANCER, re.MULTILINE)
    assert COMPOSE["services"]["balancer"]["ports"] == [f"127.0.0.1:8080:{port}"]
    assert BALANCER.count("{") == BALANCER.count("}")
    # Broadsheet takes the last address for the client's; without this it would be the next proxy's.
    assert "header_up X-Forwarded-For {client_ip}" in BALANCER


def test_every_command_of_compose_in_the_page_names_the_file_and_a_service() -> None:
    lines = re.findall(r"^\$ (docker compose .*)$", SCALING, re.MULTILINE)
    assert len(lines) >= 4
    for line in lines:
        words = line.split()
        assert words[2:4] == ["-f", "config/compose.scale.yaml"]
        assert words[4] in ("build", "run", "up", "exec", "stop", "ps")
        assert words[4] in ("build", "up", "ps", "stop") or set(words) & set(COMPOSE["services"])


def test_the_server_takes_as_many_connections_as_the_page_counts(settings: Settings) -> None:
    for_jobs = int(re.findall(r"postgres\.connections \+ (\d+)\)", SCALING)[0])
    (most,) = (
        int(each.partition("=")[2]) for each in COMPOSE["services"]["postgres"]["command"] if "max_connections" in each
    )
    pods = (yaml.safe_load_all(path.read_text(encoding="utf-8")) for path in (ROOT / "config" / "kubernetes").glob("*.yaml"))
    here = sum(service["deploy"]["replicas"] for service in PROCESSES.values())
    there = sum(each["spec"].get("replicas", 0) for documents in pods for each in documents if "spec" in each)
    counted = [many * (settings.postgres.connections + for_jobs) for many in (here, there)]
    assert (
        f"That is {counted[0]} for compose as it is, of {most}, and {counted[1]} for the manifests of Kubernetes" in SCALING
    )
    assert counted[0] + 3 < most


def directives(path: Path) -> dict[str, list[str]]:
    """Every directive of a unit with its values: one may be given several times."""
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r"^(\w+)=(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE):
        found.setdefault(name, []).append(value)
    return found


def test_the_unit_for_roles_is_the_services_but_for_what_it_runs_and_where() -> None:
    unit, whole = directives(UNIT), directives(ROOT / "config" / "broadsheet.service")
    differ = {name for name in {*unit, *whole} if unit.get(name) != whole.get(name)}
    assert differ == {
        "Description", "Environment", "EnvironmentFile", "ExecStart", "StateDirectory", "WorkingDirectory"
    }  # fmt: skip
    assert unit["EnvironmentFile"] == ["/etc/broadsheet/%i.env"]
    assert unit["ExecStart"] == ["/usr/local/bin/broadsheet run --roles ${ROLES}"]
    assert unit["StateDirectory"] == ["broadsheet/%i"]
    assert "BROADSHEET_POSTGRES__FOLDER=/var/lib/broadsheet/%i/process" in unit["Environment"]
    assert unit["RestartPreventExitStatus"] == [f"{Exit.USAGE:d} {Exit.SETTINGS:d}"]


def test_the_unit_for_roles_can_be_read(tmp_path: Path) -> None:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.read_string(UNIT.read_text(encoding="utf-8"))
    assert parser.sections() == ["Unit", "Service", "Install"]
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd-analyze here")
    # Of all that it says, only the program and the user have to be those of a machine.
    text = UNIT.read_text(encoding="utf-8").replace("/usr/local/bin/broadsheet run --roles ${ROLES}", "/bin/true")
    place = tmp_path / "broadsheet@deliver-1.service"
    place.write_text(text.replace("=broadsheet\nGroup=broadsheet", "=root\nGroup=root"))
    done = subprocess.run(["systemd-analyze", "verify", str(place)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
