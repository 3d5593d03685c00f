"""Stand-ins for packages that need not be installed."""

import types

import numpy as np


def fake_pynndescent(miss):
    """Stand in for the package: brute force that misses some neighbours, in single precision."""

    class NNDescent:
        def __init__(self, data, **options):
            self.data = data
            vars(self).update(options)

        def prepare(self):
            pass

        def query(self, points, k, epsilon):
            gap = ((points[:, None] - self.data[None]) ** 2).sum(axis=2)
            order = np.argsort(gap, axis=1)
            kept = np.delete(order, np.arange(1, 1 + miss), axis=1)[:, :k].astype(np.int32)
            return kept, np.take_along_axis(gap, kept, axis=1)

    module = types.ModuleType("pynndescent")
    module.NNDescent = NNDescent
    return module


class Cells:
    """Stand in for an AnnData object: its parts are dictionaries."""

    def __init__(self, obsm, obs=(), uns=()):
        self.obsm, self.obs, self.uns = dict(obsm), dict(obs), dict(uns)
        self.n_obs = len(next(iter(self.obsm.values())))

    def copy(self):
        return Cells(self.obsm, self.obs, self.uns)
