"""Small models that together have everything that a saved file may hold."""

import json
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from tests.support.estimates import estimate_with

import vbdm
from vbdm.io.saved.archive import HEADER
from vbdm.operator.normalise import with_kernel

from .archives import members_of, write_members

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(0)
CLOUD = RNG.standard_normal((80, 2))
TURN = RNG.uniform(0, 2 * np.pi, (80, 1))
CURVE = np.c_[np.cos(TURN), np.sin(TURN), 0.01 * RNG.standard_normal((80, 30))]


def spectrum_of(X, operator="laplacian", **settings):
    return estimate_with(X, operator, **settings).spectrum(3)


def flow(**settings):
    potential = (CLOUD**2).sum(axis=1) / 2
    return estimate_with(CLOUD, potential=potential, **settings).spectrum(3)


def weighted(way):
    weights = np.exp(-(CLOUD**2).sum(axis=1) / 4)
    return spectrum_of(CLOUD, "generator", weights=weights, weights_as=way)


def two_sided():
    rho = 1 + 0.1 * RNG.random(80)
    return spectrum_of(CLOUD, method="paper", form="two-sided", bandwidth=(rho, rho))


def released():
    """A graph that has given up its lists, as those of more than 10,000 points do."""
    op = vbdm.estimate_operator(CLOUD, method=vbdm.Resolved(n_neighbors=40))
    return with_kernel(op, op.kernel.without_lists()).spectrum(3)


def turned():
    return spectrum_of(np.c_[CLOUD, np.zeros((80, 10))])


MODELS = {
    "plain": lambda: spectrum_of(vbdm.datasets.sphere(60, random_state=0).points),
    "double": lambda: spectrum_of(CLOUD, precision="double"),
    "lists": lambda: spectrum_of(CLOUD, n_neighbors=40),
    "copies": lambda: spectrum_of(np.vstack([CLOUD, CLOUD[:30]])),
    "paper": lambda: spectrum_of(CLOUD, method="paper", shape="compact"),
    "left": lambda: spectrum_of(CLOUD, method="paper", form="left"),
    "two-sided": two_sided,
    "potential": flow,
    "weights": lambda: weighted("measure"),
    "multiplicities": lambda: weighted("counts"),
    "paper's potential": lambda: flow(method="paper"),
    "tail": lambda: spectrum_of(vbdm.datasets.ou(80, sampling="grid").points, "generator"),
    "bandwidth": lambda: spectrum_of(CLOUD, bandwidth=1 + 0.1 * CLOUD[:, 0] ** 2),
    "released": released,
    "turned": turned,
    "projected": lambda: spectrum_of(vbdm.neighbors(CURVE, 40, search="projected")),
    "brute": lambda: spectrum_of(vbdm.neighbors(CLOUD, 40, search="brute")),
    "periodic": lambda: spectrum_of(vbdm.neighbors(TURN, 40, period=2 * np.pi)),
    "metric": lambda: spectrum_of(vbdm.neighbors(CLOUD, 40, metric="manhattan")),
    "given": lambda: spectrum_of(
        CLOUD, epsilon=0.01, dim=2.0, truncation=0.01, limiter=False, effort=2
    ),
}


@cache
def members_by_name(name):
    """Return the entries of the file of a model."""
    with tempfile.TemporaryDirectory() as folder:
        MODELS[name]().save(Path(folder, "model"))
        return members_of(Path(folder, "model"))


def save_sphere(path):
    """Write the file of the first model."""
    write_members(path, members_by_name("plain"))


def arrays_of(members):
    """Return the names of the arrays in a file that the first of the models has not, or is."""
    first = members_by_name("plain")
    return sorted(set(members) - {HEADER} - (set() if members == first else set(first)))


def places_of(members):
    """Return the way to every value of a text that the first of the models has not, or is."""
    first = members_by_name("plain")
    seen = set() if members == first else set(places_in(json.loads(first[HEADER])))
    return [place for place in places_in(json.loads(members[HEADER])) if place not in seen]


def places_in(head, place=()):
    """Yield the way to every value of a JSON text: a tuple of keys."""
    for key, value in head.items():
        if isinstance(value, dict):
            yield from places_in(value, (*place, key))
        yield (*place, key)
