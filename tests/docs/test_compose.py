"""What `docker compose up` would start; there is no Docker where this is tested."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parent.parent.parent
SERVICES: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]


@pytest.mark.parametrize("name", SERVICES)
def test_images_are_pinned_and_ports_are_on_loopback(name: str) -> None:
    service = SERVICES[name]
    assert re.fullmatch(r"[a-z/-]+:v?\d+\.\d+\.\d+", service["image"])
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


def test_no_two_services_want_the_same_port() -> None:
    ports = [port.rsplit(":", 1)[0] for it in SERVICES.values() for port in it.get("ports", ())]
    assert len(ports) == len(set(ports))


@pytest.mark.parametrize("name", SERVICES)
def test_what_is_mounted_from_here_is_here(name: str) -> None:
    for volume in SERVICES[name].get("volumes", ()):
        source = volume.partition(":")[0]
        if source.startswith("./collector-config/"):
            assert (ROOT / source).exists(), source
            assert volume.endswith(":ro")


def test_without_a_profile_there_is_jaeger_alone() -> None:
    assert [name for name, it in SERVICES.items() if "profiles" not in it] == ["jaeger"]
