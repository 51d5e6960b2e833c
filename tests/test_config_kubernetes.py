"""The manifests of config/kubernetes/: what Kubernetes takes, every role in one of them, and no secret in any."""

import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]  # it publishes no types
import pytest
import yaml

from bot.settings.load import Settings, load, secret_names
from bot.settings.sections import ROLES
from tests.test_config import DOCKERFILE, ROOT

FOLDER = ROOT / "config" / "kubernetes"
DATABASE = "postgresql://broadsheet:password@db.lab.example/broadsheet"
VERSIONS = ("1.30", "1.33", kubernetes_validate.latest_version())  # the oldest that lets a pod sleep before it stops
NEEDED = 30  # seconds that a process may take to end
WORKLOADS = ("Deployment", "StatefulSet")
FILES = {path.name: list(yaml.safe_load_all(path.read_text(encoding="utf-8"))) for path in sorted(FOLDER.glob("*.yaml"))}
KUSTOMIZATION: dict[str, Any] = FILES.pop("kustomization.yaml")[0]
OBJECTS: list[dict[str, Any]] = [each for documents in FILES.values() for each in documents]
NAMES = [f"{each['kind']} {each['metadata']['name']}" for each in OBJECTS]


def of_kind(*kinds: str) -> dict[str, dict[str, Any]]:
    """The objects of these kinds, by name."""
    return {each["metadata"]["name"]: each for each in OBJECTS if each["kind"] in kinds}


def pod_of(workload: dict[str, Any]) -> dict[str, Any]:
    """What is said of the pods of a workload."""
    pod: dict[str, Any] = workload["spec"]["template"]["spec"]
    return pod


def container_of(workload: dict[str, Any]) -> dict[str, Any]:
    """Its one container."""
    (container,) = pod_of(workload)["containers"]
    assert isinstance(container, dict)
    return container


RUNNING = of_kind(*WORKLOADS)
ALL = of_kind(*WORKLOADS, "Job")


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The settings as a pod reads them, with what the Secret's example has."""
    for name, value in of_kind("Secret")["broadsheet"]["stringData"].items():
        (tmp_path / name).write_text(DATABASE if name == "database" else value)
    for variable in container_of(RUNNING["broadsheet-front"])["env"]:
        monkeypatch.setenv(variable["name"], variable["value"].replace("/run/secrets/broadsheet", str(tmp_path)))
    monkeypatch.delenv("BROADSHEET_CONFIG")
    (file,) = of_kind("ConfigMap")["broadsheet-settings"]["data"]
    (tmp_path / file).write_text(of_kind("ConfigMap")["broadsheet-settings"]["data"][file])
    return load(tmp_path / file)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("manifest", OBJECTS, ids=NAMES)
def test_every_manifest_is_what_kubernetes_describes(manifest: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(manifest, version, strict=True)
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate({**manifest, "spek": {}}, version, strict=True)


def test_no_two_objects_have_one_name_and_none_says_where_it_belongs() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert [name for name, each in zip(NAMES, OBJECTS, strict=True) if "namespace" in each["metadata"]] == []
    assert {each["metadata"]["labels"]["app.kubernetes.io/name"] for each in OBJECTS} == {"broadsheet"}


def test_kustomize_is_given_every_file_but_those_that_one_has_to_choose() -> None:
    assert {*KUSTOMIZATION["resources"], "secret.example.yaml", "network-policy.yaml"} == set(FILES)
    images = {container_of(workload)["image"] for workload in ALL.values()}
    assert [images] == [{each["name"]} for each in KUSTOMIZATION["images"]]


def test_kustomize_makes_of_them_what_one_pushed() -> None:
    if shutil.which("kubectl") is None:
        pytest.skip("there is no kubectl here")
    done = subprocess.run(["kubectl", "kustomize", str(FOLDER)], capture_output=True, text=True, check=True)
    made = [each for each in yaml.safe_load_all(done.stdout) if each["kind"] in (*WORKLOADS, "Job")]
    (image,) = KUSTOMIZATION["images"]
    assert {container_of(each)["image"] for each in made} == {f"{image['newName']}:{image['newTag']}"}
    assert len(made) == len(ALL)


def test_every_role_is_in_one_workload_that_is_named_after_it() -> None:
    assert {name: container_of(each)["args"] for name, each in RUNNING.items()} == {
        f"broadsheet-{role}": ["run", "--roles", role] for role in ROLES
    }
    assert container_of(ALL["broadsheet-migrate"])["args"] == ["db", "migrate"]
    for role in ("clock", "make", "deliver", "front", "gateway"):
        assert RUNNING[f"broadsheet-{role}"]["spec"]["replicas"] >= 2, role


def test_all_pods_are_alike_but_for_their_role_and_what_it_takes() -> None:
    def common(workload: dict[str, Any]) -> list[Any]:
        pod, container = pod_of(workload), container_of(workload)
        mine = [each for each in pod["volumes"] if each["name"] != "data"]
        return [
            pod["securityContext"],
            mine,
            *(container[name] for name in ("image", "env", "securityContext", "volumeMounts")),
        ]

    first = common(RUNNING["broadsheet-front"])
    assert [name for name, each in ALL.items() if common(each) != first] == []


@pytest.mark.parametrize("name", ALL)
def test_a_pod_may_do_little(name: str) -> None:
    pod, container = pod_of(ALL[name]), container_of(ALL[name])
    user = int(DOCKERFILE.split("--uid ")[1].split()[0])
    assert (pod["securityContext"]["runAsNonRoot"], pod["securityContext"]["runAsUser"]) == (True, user)
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert {*container["resources"]["requests"], *container["resources"]["limits"]} == {"cpu", "memory"}


@pytest.mark.parametrize("name", ALL)
def test_no_variable_comes_from_a_service_as_it_would_be_taken_for_a_setting(name: str) -> None:
    assert pod_of(ALL[name])["enableServiceLinks"] is False


@pytest.mark.parametrize("name", RUNNING)
def test_a_pod_is_asked_how_it_is_where_it_answers(name: str, settings: Settings) -> None:
    container = container_of(RUNNING[name])
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    assert ports["health"] == settings.health.port
    paths = {probe: container[probe]["httpGet"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert paths == {
        "startupProbe": {"path": "/healthz", "port": "health"},
        "livenessProbe": {"path": "/healthz", "port": "health"},
        "readinessProbe": {"path": "/readyz", "port": "health"},
    }


@pytest.mark.parametrize("name", ALL)
def test_a_pod_has_the_time_that_it_takes_to_end(name: str) -> None:
    waits = container_of(ALL[name]).get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    assert pod_of(ALL[name])["terminationGracePeriodSeconds"] == NEEDED + waits


@pytest.mark.parametrize("name", RUNNING)
def test_a_workload_selects_its_own_pods_and_is_not_taken_down_at_once(name: str) -> None:
    workload = RUNNING[name]
    labels = workload["spec"]["template"]["metadata"]["labels"]
    assert workload["spec"]["selector"]["matchLabels"] == labels == workload["metadata"]["labels"]
    assert of_kind("PodDisruptionBudget")[name]["spec"] == {"maxUnavailable": 1, "selector": {"matchLabels": labels}}
    if workload["kind"] == "StatefulSet":
        assert of_kind("Service")[workload["spec"]["serviceName"]]["spec"]["selector"] == labels


@pytest.mark.parametrize("role", ["clock", "collect", "make", "front", "gateway"])
def test_who_searches_or_keeps_the_heartbeat_has_a_disk_of_its_own(role: str, settings: Settings) -> None:
    workload = RUNNING[f"broadsheet-{role}"]
    (claim,) = workload["spec"]["volumeClaimTemplates"]
    mounted = {each["name"]: each["mountPath"] for each in container_of(workload)["volumeMounts"]}
    assert settings.database_path.is_relative_to(mounted[claim["metadata"]["name"]])
    assert "data" not in {each["name"] for each in pod_of(workload)["volumes"]}


def test_the_services_of_the_fronts_lead_to_where_they_listen(settings: Settings) -> None:
    container, service = container_of(RUNNING["broadsheet-front"]), of_kind("Service")["broadsheet-front"]
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    assert ports == {
        "health": settings.health.port,
        "slack": settings.slack.port,
        "discord": settings.discord.port,
        "web": settings.web.port,
    }
    assert {each["targetPort"]: each["port"] for each in service["spec"]["ports"]} == {
        name: port for name, port in ports.items() if name != "health"
    }
    allowed = {port["port"] for each in of_kind("NetworkPolicy").values() for port in each["spec"]["ingress"][0]["ports"]}
    assert allowed == set(ports.values())


def test_the_settings_are_those_of_the_compose_file(settings: Settings) -> None:
    assert settings.database_address == DATABASE
    (text,) = of_kind("ConfigMap")["broadsheet-settings"]["data"].values()
    assert tomllib.loads(text) == tomllib.loads((ROOT / "config" / "broadsheet.scale.toml").read_text(encoding="utf-8"))


def test_no_secret_stands_in_a_manifest_and_each_is_a_file_for_a_setting_that_is_one() -> None:
    held = of_kind("Secret")["broadsheet"]["stringData"]
    assert {name: value for name, value in held.items() if value} == {
        "database": "postgresql://USER:PASSWORD@HOST/DATABASE?sslmode=verify-full&sslrootcert=system"
    }
    assert {name.replace("_", ".", 1) for name in held} - {"database"} <= secret_names()
    named = {
        variable["name"]: variable["value"].removeprefix("/run/secrets/broadsheet/")
        for variable in container_of(RUNNING["broadsheet-front"])["env"]
        if variable["name"].endswith("_FILE")
    }
    assert set(named.values()) == set(held)
    for variable, secret in named.items():
        assert variable == f"BROADSHEET_{secret.replace('_', '__', 1).upper()}_FILE"
