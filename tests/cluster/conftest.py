"""A Ray cluster on this machine: a head that plays nothing, and two nodes of one processor each."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'evoharness-cli[cluster]'")

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
_NODE = {"object_store_memory": 80_000_000, "include_dashboard": False}


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """The cluster's address."""
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **_NODE})
    try:
        for _ in range(2):
            made.add_node(num_cpus=1, **_NODE)
        yield made.address
    finally:
        made.shutdown()
