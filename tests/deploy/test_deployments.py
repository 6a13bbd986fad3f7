"""What deploy/ holds, checked by the programs that it is for: Envoy, the validator of compose files, Helm, and the
schemas of Kubernetes."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from proviso_service.settings import TurnSettings
from tests.support.envoy import CONFIG, DEPLOY, envoy_program, shipped
from tests.support.tls_files import TlsAuthority

TOOLS = DEPLOY.parent / "build" / "bin"
COMPOSE = DEPLOY / "compose.yaml"
CHART = DEPLOY / "chart"
SECRET = re.compile(r"\$\{(\w+):\?[^}]*\}")
GIVEN = ("secretName=settings", "tlsSecretName=tls")
TELEMETRY = "settings.PROVISO_TELEMETRY__OTLP_ENDPOINT=http://collector:4317"
TURN_S = TurnSettings().time_limit_s
TAGGED = re.compile(r"[\w./-]+:v?\d[\w.-]*(?:@sha256:[0-9a-f]{64})?")


def run(*command: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        cwd=DEPLOY,
        env=os.environ | environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )


def rendered(*values: str) -> list[dict[str, Any]]:
    """The manifests of a release "legal"."""
    chosen = [part for value in (*GIVEN, *values) for part in ("--set", value)]
    done = run(TOOLS / "helm", "template", "legal", CHART, *chosen)
    assert done.returncode == 0, done.stderr
    return [manifest for manifest in yaml.safe_load_all(done.stdout) if manifest]


def named(manifests: list[dict[str, Any]], kind: str, name: str) -> Any:
    return next(one for one in manifests if (one["kind"], one["metadata"]["name"]) == (kind, name))


def seconds(duration: str) -> float:
    return float(duration.removesuffix("s"))


@pytest.fixture
def tls(tmp_path: Path) -> Path:
    """A folder with what deploy/chart/files/envoy.yaml looks for."""
    authority = TlsAuthority(tmp_path)
    certificate, key = authority.server()
    (tmp_path / "tls.crt").write_bytes(certificate.read_bytes())
    (tmp_path / "tls.key").write_bytes(key.read_bytes())
    (tmp_path / "ca.crt").write_bytes(authority.ca.read_bytes())
    return tmp_path


def test_envoy_takes_its_file_without_a_warning_and_refuses_a_fault(tls: Path) -> None:
    config = tls / "envoy.yaml"
    config.write_text(yaml.safe_dump(shipped(tls)))
    checked = run(envoy_program(), "--mode", "validate", "-c", config)
    assert checked.returncode == 0, checked.stderr
    assert "][warning]" not in checked.stderr
    config.write_text(config.read_text().replace("num_retries", "number_of_retries"))
    assert run(envoy_program(), "--mode", "validate", "-c", config).returncode != 0


def test_the_compose_file_conforms_with_secrets_given_and_not_without(tmp_path: Path) -> None:
    text, file = COMPOSE.read_text(), tmp_path / "compose.yaml"
    file.write_text(SECRET.sub("x", text))
    assert run(TOOLS / "compose", file).returncode == 0
    file.write_text(SECRET.sub("x", text).replace("stop_grace_period", "grace_period"))
    assert "grace_period" in run(TOOLS / "compose", file).stderr
    missing = run(TOOLS / "compose", COMPOSE)
    assert missing.returncode != 0
    names = ("PROVISO_AUTH__KEY_SECRET", "POSTGRES_PASSWORD", "REDIS_PASSWORD", "S3_SECRET_KEY")
    assert set(SECRET.findall(text)) == set(names)
    assert all(name in missing.stderr for name in names)


def test_replicas_of_the_compose_file_may_end_their_turns() -> None:
    service = yaml.safe_load(COMPOSE.read_text())["services"]["proviso"]
    drain_s = float(service["environment"]["PROVISO_SERVER__DRAIN_S"])
    assert TURN_S < drain_s < seconds(service["stop_grace_period"])


def test_images_are_pinned() -> None:
    services = yaml.safe_load(COMPOSE.read_text())["services"].values()
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    images = [re.sub(r"\$\{\w+:-(.*?)\}", r"\1", one["image"]) for one in services]
    for image in (*images, values["image"], values["envoyImage"]):
        assert TAGGED.fullmatch(image), image


@pytest.mark.parametrize("version", ["1.30.0", "1.37.0"])
@pytest.mark.parametrize(
    "values",
    [
        (),
        ("autoscaling.enabled=false", "envoy.serviceType=LoadBalancer", "workers.replicas=0"),
        ("autoscaling.turnsMetric=turns", TELEMETRY),
    ],
)
def test_what_helm_makes_of_the_chart_is_what_kubernetes_takes(
    tmp_path: Path, version: str, values: tuple[str, ...]
) -> None:
    file = tmp_path / "manifests.yaml"
    file.write_text(yaml.safe_dump_all(rendered(*values)))
    checked = run(sys.executable, "-m", "kubernetes_validate", "--strict", "-k", version, file)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_a_manifest_with_a_fault_is_refused(tmp_path: Path) -> None:
    manifests = rendered()
    named(manifests, "Deployment", "legal-replicas")["spec"]["template"]["spec"]["containers"][0]["imag"] = "x"
    file = tmp_path / "manifests.yaml"
    file.write_text(yaml.safe_dump_all(manifests))
    assert run(sys.executable, "-m", "kubernetes_validate", "--strict", file).returncode != 0


def test_the_chart_is_sound_and_its_values_have_a_schema() -> None:
    given = [part for value in GIVEN for part in ("--set", value)]
    assert run(TOOLS / "helm", "lint", "--strict", CHART, *given).returncode == 0
    for wrong in ("replica=3", "drainSeconds=soon", "settings.proviso=x", "secretName="):
        assert run(TOOLS / "helm", "template", CHART, *given, "--set", wrong).returncode != 0, wrong


def test_envoy_takes_the_file_of_the_chart_which_names_the_replicas_of_the_release(tls: Path) -> None:
    manifests = rendered()
    config = named(manifests, "ConfigMap", "legal-envoy")["data"]["envoy.yaml"]
    assert config == CONFIG.read_text().replace("proviso-replicas", "legal-replicas").rstrip("\n")
    assert named(manifests, "Service", "legal-replicas")["spec"]["clusterIP"] == "None"


def containers(manifests: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each container with its pod."""
    for manifest in manifests:
        if manifest["kind"] == "Deployment":
            pod = manifest["spec"]["template"]["spec"]
            yield from ((pod, container) for container in pod["containers"])


def test_pods_run_without_rights_that_they_do_not_need() -> None:
    for pod, container in containers(rendered()):
        assert pod["securityContext"]["runAsNonRoot"]
        assert not pod["automountServiceAccountToken"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_pods_may_end_their_turns_before_they_are_killed() -> None:
    pod = named(rendered(), "Deployment", "legal-replicas")["spec"]["template"]["spec"]
    variables = {one["name"]: one["value"] for one in pod["containers"][0]["env"]}
    assert TURN_S < float(variables["PROVISO_SERVER__DRAIN_S"]) < pod["terminationGracePeriodSeconds"]


def ingest_workers(manifests: list[dict[str, Any]], name: str) -> str | None:
    pod = named(manifests, "Deployment", name)["spec"]["template"]["spec"]
    variables = {one["name"]: one["value"] for one in pod["containers"][0]["env"]}
    return variables.get("PROVISO_DOCUMENTS__INGEST_WORKERS")


def test_replicas_leave_documents_to_workers_where_there_are_some() -> None:
    manifests = rendered("workers.replicas=2")
    assert named(manifests, "Deployment", "legal-workers")["spec"]["replicas"] == 2
    assert (ingest_workers(manifests, "legal-replicas"), ingest_workers(manifests, "legal-workers")) == ("0", None)
    alone = rendered("workers.replicas=0")
    assert ingest_workers(alone, "legal-replicas") is None
    assert not [one for one in alone if "worker" in one["metadata"]["name"]]


def test_the_worker_of_the_compose_file_has_the_settings_of_the_replicas() -> None:
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    assert services["worker"]["command"] == ["proviso", "worker"]
    assert services["worker"]["environment"] == services["proviso"]["environment"]


def test_replicas_are_added_by_running_turns_where_a_metric_is_named() -> None:
    by_turns = rendered("autoscaling.turnsMetric=proviso_turns_running", "autoscaling.targetTurns=40", TELEMETRY)
    cpu, turns = named(by_turns, "HorizontalPodAutoscaler", "legal-replicas")["spec"]["metrics"]
    assert cpu["resource"]["name"] == "cpu"
    assert turns["pods"] == {
        "metric": {"name": "proviso_turns_running"},
        "target": {"type": "AverageValue", "averageValue": "40"},
    }
    pod = named(by_turns, "Deployment", "legal-replicas")["spec"]["template"]["spec"]
    variables = {one["name"]: one.get("value") for one in pod["containers"][0]["env"]}
    assert "k8s.pod.name=$(POD_NAME)" in variables["OTEL_RESOURCE_ATTRIBUTES"]
    (alone,) = named(rendered(), "HorizontalPodAutoscaler", "legal-replicas")["spec"]["metrics"]
    assert alone == cpu
