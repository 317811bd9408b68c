"""Proofs about networks."""

from __future__ import annotations

import pytest

import kvrm
from kvrm import networks


def test_the_dispatch_network_that_comes_with_kvrm_is_proved() -> None:
    parts: list[float] = []
    certificate = networks.verify(networks.Weights.builtin("dispatch"), parts.append)
    assert certificate.holds and certificate.details["failures"] == []
    assert certificate.details["parameters"] == 10_279 and certificate.sha256 in str(certificate)
    assert max(parts) == 1.0 and len(parts) == 256


def test_a_network_that_is_wrong_has_no_certificate() -> None:
    certificate = networks.verify(networks.Weights.from_flat("dispatch", [0.0] * 10_279))
    assert not certificate.holds and certificate.details["failures"]


def test_there_are_no_proofs_about_networks_that_only_propose() -> None:
    with pytest.raises(kvrm.Error, match="no proof about the loop-detector network: expected dispatch or decoder"):
        networks.verify(networks.Weights.builtin("loop-detector"))
