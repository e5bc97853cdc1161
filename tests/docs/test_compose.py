"""Services of `docker compose up`; there is no Docker where this is tested."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parent.parent.parent
CONFIGS = ROOT / "collector-config"
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
PROFILES = {"jaeger": ["jaeger"],
            "grafana": ["prepare", "collector", "tempo", "prometheus", "grafana"]}  # fmt: skip
SERVERS = [name for name in SERVICES if name != "prepare"]
"""All but the container that prepares the volumes, and ends."""


def config(name: str) -> Any:
    return yaml.safe_load((CONFIGS / name).read_text())


def with_defaults(value: str) -> str:
    """Return a value of the compose file where no variable is set."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)


def mounts(name: str) -> dict[str, str]:
    """Return the mount points of a service, with their contents."""
    pairs = (volume.split(":")[:2] for volume in SERVICES[name].get("volumes", ()))
    return {place: source for source, place in pairs}


@pytest.mark.parametrize("name", SERVICES)
def test_images_are_pinned_and_ports_are_on_loopback(name: str) -> None:
    service = SERVICES[name]
    assert re.fullmatch(r"[a-z/-]+:v?\d+\.\d+\.\d+", service["image"])
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


@pytest.mark.parametrize("profile", PROFILES)
def test_programs_send_to_one_port_in_every_profile(profile: str) -> None:
    assert [name for name, service in SERVICES.items() if service["profiles"] == [profile]] == (
        PROFILES[profile]
    )
    ports = [port for name in PROFILES[profile] for port in SERVICES[name].get("ports", ())]
    published = [port.rsplit(":", 1)[0] for port in ports]
    assert len(published) == len(set(published))
    assert [port for port in ports if port.endswith((":4317", ":4318"))] == [
        "127.0.0.1:4317:4317",
        "127.0.0.1:4318:4318",
    ]


@pytest.mark.parametrize("name", SERVICES)
def test_what_is_mounted_from_here_is_here(name: str) -> None:
    for volume in SERVICES[name].get("volumes", ()):
        source = volume.partition(":")[0]
        if source.startswith("./collector-config/"):
            assert (ROOT / source).exists(), source
            assert volume.endswith(":ro")


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_has_a_limit_of_memory(name: str) -> None:
    limit = re.fullmatch(r"(\d+)([mg])", SERVICES[name]["mem_limit"])
    assert limit
    mebibytes = int(limit[1]) * (1024 if limit[2] == "g" else 1)
    heap = SERVICES[name].get("environment", {}).get("GOMEMLIMIT", "0MiB")
    assert int(heap.removesuffix("MiB")) < mebibytes
    if name == "collector":
        variable = config("local.yaml")["processors"]["memory_limiter"]["limit_mib"]
        default = int(re.findall(r":-(\d+)\}", variable)[0])
        assert default < int(heap.removesuffix("MiB"))


@pytest.mark.parametrize("name", SERVERS)
def test_no_server_runs_as_root(name: str) -> None:
    user, _, group = with_defaults(SERVICES[name]["user"]).partition(":")
    assert int(user) > 0
    assert group.isdecimal()


def test_volumes_belong_to_their_server_before_it_starts() -> None:
    prepares = SERVICES["prepare"]
    command = " ".join(prepares["command"]).replace("\n", " ")
    owners = {
        place: with_defaults(prepares["environment"]["COLLECTOR_USER"]) if "$" in owner else owner
        for owner, places in re.findall(r'chown -R "?([$\w:]+)"?((?: /\w+)+)', command)
        for place in places.split()
    }
    values = {source: owners[place] for place, source in mounts("prepare").items()}
    for name in SERVERS:
        written = {mount for mount in mounts(name).values() if "collector-config" not in mount}
        for source in written:
            assert values[source] == with_defaults(SERVICES[name]["user"]), (name, source)
        if written:
            condition = SERVICES[name]["depends_on"]["prepare"]["condition"]
            assert condition == "service_completed_successfully"
    assert COMPOSE["volumes"].keys() == values.keys() - {"./archive"}


def test_the_root_that_prepares_volumes_has_no_network_and_two_capabilities() -> None:
    prepares = SERVICES["prepare"]
    assert prepares["network_mode"] == "none"
    assert prepares["cap_drop"] == ["ALL"]
    assert prepares["cap_add"] == ["CHOWN", "DAC_READ_SEARCH"]
    assert prepares["read_only"] is True


def test_the_collector_writes_into_volumes_only() -> None:
    environ, places = SERVICES["collector"]["environment"], mounts("collector")
    assert places[environ["QUEUE_DIR"]] == "queue"
    assert places[environ["ARCHIVE_DIR"]] == "./archive"
    assert environ["STORE_ENDPOINT"] == "tempo:4317"


def test_prometheus_scrapes_the_ports_of_the_collector() -> None:
    local = config("local.yaml")
    (reader,) = local["service"]["telemetry"]["metrics"]["readers"]
    matches = re.findall(r":-(\d+)\}", reader["pull"]["exporter"]["prometheus"]["port"])
    programs = SERVICES["collector"]["environment"]["METRICS_LISTEN"].split(":")[1:]
    targets = [
        target
        for job in config("prometheus.yaml")["scrape_configs"]
        for static_config in job["static_configs"]
        for target in static_config["targets"]
    ]
    assert targets == [f"collector:{port}" for port in (*programs, *matches)]


def test_what_is_kept_is_bounded() -> None:
    memory = config("jaeger.yaml")["extensions"]["jaeger_storage"]["backends"]["memory"]["memory"]
    assert re.fullmatch(r"\$\{env:MAX_TRACES:-\d+\}", memory["max_traces"])
    assert config("tempo.yaml")["overrides"]["defaults"]["compaction"] == {
        "block_retention": "336h"
    }
    assert config("prometheus.yaml")["storage"]["tsdb"]["retention"] == {
        "time": "15d",
        "size": "5GB",
    }
    exporters = config("local.yaml")["exporters"]
    for name in ("file/spans", "file/logs"):
        rotation = exporters[name]["rotation"]
        assert rotation.keys() == {"max_megabytes", "max_days", "max_backups"}


@pytest.mark.parametrize("file", sorted(path.name for path in CONFIGS.glob("*.yaml")))
def test_a_header_names_every_variable_with_its_default(file: str) -> None:
    text = (CONFIGS / file).read_text()
    header = " ".join(line.strip("# ") for line in text.partition("\n\n")[0].splitlines())
    for name, default in re.findall(r"\$\{env:(\w+):-([^}]*)\}", text):
        assert f"{name} {default}" in header, name
