"""Approximate engines: fast where nothing exact is, at the price of a few missed neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..base.arrays import FloatArray, IntArray
from ..base.references import DESCENT, Credit
from ..errors import InputError
from .exact import nearest_of


@dataclass(frozen=True)
class PyNNDescent:
    """Nearest neighbour descent, by the package pynndescent: for many points in many columns.

    It compiles for half a minute at its first use in a process. Its distances are in single
    precision and are not used: candidates are measured again.
    """

    #: Extra candidates, as a share of k; they serve as in `BruteForce`.
    spare: float = 0.25
    #: How far a query looks beyond its best candidates; more finds more.
    epsilon: float = 0.15
    #: Seed of its random projections.
    random_state: int = 0
    credit: ClassVar[Credit] = Credit(
        "PyNNDescent", "an approximate search by nearest neighbour descent", (DESCENT,)
    )

    def index(self, cloud: FloatArray, k: int) -> ApproximateIndex:
        """Build the graph that queries walk on."""
        try:
            from pynndescent import NNDescent
        except ImportError:
            raise missing("pynndescent") from None
        centre = cloud.mean(axis=0)
        points = (cloud - centre).astype(np.float32)
        engine = NNDescent(points, n_neighbors=max(15, min(k, 30)), random_state=self.random_state)
        engine.prepare()
        return ApproximateIndex(engine, cloud, centre, self.spare, self.epsilon)


@dataclass(frozen=True, eq=False)
class ApproximateIndex:
    """The graph that queries walk on; candidates are measured in the original columns."""

    engine: Any
    cloud: FloatArray
    centre: FloatArray
    spare: float
    epsilon: float
    rows_per_call: int = 4096
    parallel: bool = False

    def query(self, points: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Return indices and squared distances of the k nearest that were found."""
        wanted = min(int((1 + self.spare) * k) + 1, len(self.cloud))
        single = (points - self.centre).astype(np.float32)
        candidates, _ = self.engine.query(single, k=wanted, epsilon=self.epsilon)
        return nearest_of(points, self.cloud, candidates, k, share=True)


def missing(package: str) -> Exception:
    """Return the error for a search whose package is not installed."""
    return InputError(
        f"This search needs the package {package}, which is not installed; received "
        f"search={package!r}. Run `pip install vbdm[approximate]`, or leave `search` out for an "
        "exact one."
    )
