"""New points: how far the extended eigenfunctions and densities are from the truth, beside the
errors on the training points: ``python benchmarks/extension.py``.

Whole groups of equal eigenvalues are compared, mapped onto the truth by the best linear map on the
training points. Errors are root mean squares, over new points within reach of the data.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from scipy.spatial import cKDTree
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

import record
import vbdm

D = vbdm.datasets

#: Each makes a sample from N and a seed; then the settings, and how many modes: whole groups only.
PROBLEMS = {
    "OU R2": (lambda n, seed: D.ou(n, dim=2, random_state=seed), {}, 6),
    "circle, angle": (
        lambda n, seed: D.circle(n, sampling="random", random_state=seed),
        {"period": 2 * np.pi},
        7,
    ),
    "sphere": (lambda n, seed: D.sphere(n, axes=(1, 0.5, 0.3), random_state=seed), {}, 9),
    "3-sphere": (lambda n, seed: D.sphere(n, dim=3, random_state=seed), {}, 14),
}
#: Two points are next to each other at this distance, in units of the data's size.
NEXT = 1e-9


@dataclass(frozen=True)
class Row:
    """Errors on training and on new points, and the jumps between them.

    Attributes
    ----------
    groups : list of lists
        Which modes have the same eigenvalue.
    train, new : (n_groups,) arrays
        Of the eigenfunctions, by group.
    density_train, density_new : float
        Of the logarithm of the density.
    jump_median, jump_largest : float
        Between a training point and a point next to it, over all modes, in units of their size.
    outside : int
        New points without values: no kernel reaches them, or a mode is too fast there.
    """

    groups: list[list[int]]
    train: np.ndarray
    new: np.ndarray
    density_train: float
    density_new: float
    jump_median: float
    jump_largest: float
    outside: int

    @property
    def worst_ratio(self):
        return float((self.new / self.train).max())

    @property
    def density_ratio(self):
        return self.density_new / self.density_train


def rms(errors):
    return float(np.sqrt(np.mean(errors**2)))


def measure(name, n_train, n_new, seed=0):
    """Fit on one sample, extend to another."""
    make, settings, n_modes = PROBLEMS[name]
    train, new = make(n_train, seed), make(n_new, seed + 1000)
    points, others = (s.parameters if settings else s.points for s in (train, new))
    model = vbdm.DiffusionMap(train.operator, n_modes - 1, **settings).fit(points)
    extension = vbdm.extend(model.spectrum_, others)
    inside = ~extension.outside & ~extension.undefined.any(axis=1)
    truth = train.truth(n_modes)
    at_train, at_new = (truth.eigenfunctions(s.parameters) for s in (train, new))
    errors = []
    for group in truth.groups[1:]:
        estimate = model.eigenfunctions_[:, group]
        matrix = np.linalg.lstsq(estimate, at_train[:, group], rcond=None)[0]
        there = extension.values[inside][:, group] @ matrix
        errors.append(
            (rms(estimate @ matrix - at_train[:, group]), rms(there - at_new[inside][:, group]))
        )
    jumps = np.abs(jump(model, points))
    on_train, on_new = np.transpose(errors)
    return Row(
        [group.tolist() for group in truth.groups[1:]],
        on_train,
        on_new,
        rms(np.log(model.density_ / train.density)),
        rms(np.log(model.density(others)[inside] / new.density[inside])),
        float(np.median(jumps)),
        float(jumps.max()),
        int((~inside).sum()),
    )


def jump(model, points):
    """Return by how much the eigenfunctions jump beside the training points, (N, n)."""
    direction = np.random.default_rng(0).standard_normal(points.shape)
    beside = points + NEXT * np.ptp(points) * direction
    # A step off the sphere or along the line: at this size they are the same.
    values = vbdm.extend(model.spectrum_, beside, outside="nearest").values[:, 1:]
    return np.nan_to_num(values - model.eigenfunctions_[:, 1:])


#: Data beside whose points eigenfunctions are extended: real ones, and two clouds.
BESIDE = {
    "iris": lambda: load_iris().data,
    "breast cancer, scaled": lambda: scaled(load_breast_cancer().data),
    "digits": lambda: load_digits().data,
    "Gaussian in the plane": lambda: D.ou(2000, dim=2, random_state=0).points,
    "sphere": lambda: D.sphere(2000, random_state=0).points,
}


def scaled(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def largest_jump(X):
    """Return how far six eigenfunctions are from their extension beside the points, at most.

    The new points are shifted by 10⁻⁶ of the typical distance to the nearest, in random directions.
    """
    spectrum = vbdm.estimate_operator(X).spectrum(7)
    step = np.random.default_rng(0).standard_normal(X.shape)
    near = cKDTree(X).query(X, k=2)[0][:, 1]
    step *= 1e-6 * np.median(near[near > 0]) / np.linalg.norm(step, axis=1, keepdims=True)
    found = vbdm.extend(spectrum, X + step)
    jump = np.abs(found.values - spectrum.eigenfunctions)[:, 1:]
    return {"largest": np.nanmax(jump), "nan": np.isnan(jump).any(axis=1).sum()}


def jumps(names):
    """Print and return `largest_jump` of some data."""
    found = {name: largest_jump(BESIDE[name]()) for name in names}
    for name, row in found.items():
        print(f"beside {name}: largest jump {row['largest']:.1e}, {row['nan']} rows NaN")
    return found


def main():
    parser = record.parser(__doc__)
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--new", type=int, default=2_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=PROBLEMS)
    options = record.given(parser, points=500, new=200, seeds=1)
    rows = []
    print(f"{'problem':14s} seed  modes: rms error on training points -> on new ones (ratio)")
    for name in options.problems:
        for seed in range(options.seeds):
            row = measure(name, options.points, options.new, seed)
            rows.append({"problem": name, "seed": seed, **asdict(row)})
            cells = [
                f"{group[0]}-{group[-1]}: {a:.4f} -> {b:.4f} ({b / a:.2f})"
                for group, a, b in zip(row.groups, row.train, row.new, strict=True)
            ]
            print(f"{name:14s} {seed:4d}  {'; '.join(cells)}")
            print(f"{'':14s}       log density: {row.density_train:.4f} -> {row.density_new:.4f} "
                  f"({row.density_ratio:.2f}); jump beside a training point: median "
                  f"{row.jump_median:.1e}, largest {row.jump_largest:.1e}; "
                  f"{row.outside} new points without values")  # fmt: skip
    figures = {"rows": rows, "jumps": jumps(["iris"] if options.smallest else BESIDE)}
    record.save(options, figures)


if __name__ == "__main__":
    main()
