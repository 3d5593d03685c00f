"""The scikit-learn estimator: the whole walk behind `fit`, new points behind `transform`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from inspect import signature
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .base.arrays import FloatArray, beside_array, is_elsewhere
from .base.files import plain
from .base.sklearn_types import constraints_of, fit_context
from .engines.choose import to_engine
from .engines.engine import at_work
from .errors import OutsideWarning
from .estimate import estimate_operator
from .estimate.model_points import ModelPoints, refuse_too_few
from .extension.extension import complain, extend
from .graph.neighbor_graph import NeighborGraph
from .kernel.bandwidth import BandwidthRule, PerPoint
from .kernel.dimension import DimensionRule
from .kernel.tuning import EpsilonRule
from .operator.arguments import gather, scatter
from .operator.method import Paper, Resolved
from .operator.run import as_run
from .placement import Dask, as_placement, placed_points
from .prepare.projection import Projection
from .prepare.series import read_series
from .spectrum.spectrum import Spectrum

#: What a model is fitted to.
Cloud = ArrayLike | Sequence[ArrayLike] | NeighborGraph
#: Types of parameters that a saved model keeps; objects such as a solver have done their work.
KEPT = (str, int, float, list, tuple, np.generic, np.ndarray)


class DiffusionMap(ModelPoints):
    """Eigenfunctions of a differential operator learned from points, as coordinates.

    `fit` estimates L f = Δf + c1 ∇f·∇q/q and solves for its slowest modes; `transform` extends
    them to new points. The embedding of the training points is what `transform` gives there.

    Parameters
    ----------
    operator, epsilon, dim, bandwidth, effort, metric, period, series, method, run
        As in `vbdm.estimate_operator`. New points for metric="precomputed" are rows of distances to
        the training points. A client of Dask as such cannot be copied, as scikit-learn does in a
        search over parameters: pass ``run=vbdm.placement.Dask(client)`` or the address there.
    n_components : int
        Number of coordinates. The constant, which says nothing, does not count.
    pca : int or float, optional
        Number of principal directions to which the columns are reduced first, or the share of the
        variance, between 0 and 1, that these hold at least. New points are projected alike. For
        slow directions of a time series see `vbdm.tica`.
    components : {"each", "largest", "error"}
        What to do with disconnected data: solve every piece, the largest one only, or refuse.
    diffusion_time : float, optional
        t: coordinates are multiplied by exp(λ t), so that distances are diffusion distances. By
        default all coordinates have mean square 1. It may be changed without a new `fit`, as
        `outside` may.
    outside : {"nan", "nearest", "error"}
        What `transform` gives where there is no data: NaN and an `OutsideWarning`, the values of
        the nearest training point, or an error. "nearest" leaves no NaN at all: use it before a
        classifier that refuses them, in a `GridSearchCV` for example.
    tol : float
        Relative accuracy of the eigenvalues; the default is far below the sampling error.

    Attributes
    ----------
    eigenvalues_, total_errors_, eigenvalue_errors_ : (n_components + 1,) arrays
        Eigenvalues of L, from 0 (the constant, which has no coordinate) downwards, their total
        errors, and their sampling errors alone. Errors are computed when first asked for.
    intervals_ : (n_components + 1, 2) array
        Lower and upper ends of their 95 % intervals; `spectrum_.intervals(level)` gives others.
    eigenfunctions_ : (N, n_components + 1) array
        One eigenfunction per column, of mean square 1; the first belongs to the eigenvalue 0. An
        array of Zarr or Dask where rows live on disk or on a cluster, as `density_` is.
    embedding_ : (N, n_components) array
        The coordinates: all eigenfunctions but the first, scaled by `diffusion_time`. Column 0,
        called "diffusionmap0" as scikit-learn counts, is eigenfunction 1. Where an eigenvalue is
        NaN, the mode decays within one step of the kernel and is no coordinate: its column is NaN,
        or 0, its limit, if outside="nearest".
    density_, unresolved_ : (N,) arrays
        Sampling density, per unit of d-dimensional volume; points whose surroundings are too
        sparse to be trusted.
    dim_, epsilon_, alpha_, n_neighbors_ : float and int
        d, ε and α in use, and the mean number of pairs per point.
    spectrum_, operator_, tuning_, projection_ : Spectrum, Operator, Tuning, Projection or None
        The results themselves, and what `pca` made of the columns.
    n_features_in_, feature_names_in_ : int, and (n,) array
        Number of columns of the training data, and their names, if they had any.

    Notes
    -----
    **Disconnected data** has one eigenvalue 0 for each piece, and these eigenfunctions are the
    indicators of the pieces, largest first. They carry information and stay in the embedding, all
    but the first: the largest piece is where the others are 0.

    **Search once.** `fit` also takes a `NeighborGraph`, so that changing ε, ρ, c1, `n_components`
    or `method` does not repeat the search; nothing is cached behind your back. Neighbours are then
    not added: a `SaturatedNeighborsWarning` says if the graph has too few.

    **Before a classifier.** The automatic settings aim at an accurate operator: in many dimensions
    that takes wide kernels. To tell classes apart, few neighbours are better, say
    ``method=vbdm.Resolved(n_neighbors=16)``, and the `SaturatedNeighborsWarning` is then of no
    concern (`benchmarks/digits.py`).

    Cost O(N k log N) for `fit`, O(M k log N) for M new points, in batches of fixed memory.

    Examples
    --------
    >>> train = vbdm.datasets.circle(1000, sampling="random", random_state=0)
    >>> test = vbdm.datasets.circle(5, sampling="random", random_state=1)
    >>> model = vbdm.DiffusionMap(n_components=2).fit(train.points)
    >>> model.eigenvalues_.round(1).tolist()     # truth: 0, -1, -1
    [0.0, -1.0, -1.0]
    >>> model.transform(test.points).shape
    (5, 2)
    >>> graph = vbdm.neighbors(train.points, 200)     # search once, fit many times
    >>> maps = [vbdm.DiffusionMap(tol=tol).fit(graph) for tol in (1e-2, 1e-6)]
    >>> [model.eigenvalues_.round(1).tolist() for model in maps]
    [[0.0, -1.0, -1.0], [0.0, -1.0, -1.0]]
    """

    def __init__(
        self,
        operator: str | float = "laplacian",
        n_components: int = 2,
        *,
        epsilon: float | str | EpsilonRule = "auto",
        dim: float | str | DimensionRule = "auto",
        bandwidth: PerPoint | BandwidthRule | str = "auto",
        effort: float = 1.0,
        metric: Any = "euclidean",
        period: Any = None,
        series: bool | str = "auto",
        method: str | Resolved | Paper = "resolved",
        run: Any = None,
        pca: int | float | None = None,
        components: str = "each",
        diffusion_time: float | None = None,
        outside: str = "nan",
        tol: float = 1e-4,
    ) -> None:
        self.operator = operator
        self.n_components = n_components
        self.epsilon = epsilon
        self.dim = dim
        self.bandwidth = bandwidth
        self.effort = effort
        self.metric = metric
        self.period = period
        self.series = series
        self.method = method
        self.run = run
        self.pca = pca
        self.components = components
        self.diffusion_time = diffusion_time
        self.outside = outside
        self.tol = tol

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = constraints_of(
        list(signature(__init__).parameters)[1:]
    )

    @fit_context(prefer_skip_nested_validation=True)
    @at_work("the model")
    def fit(
        self,
        X: Cloud,
        y: None = None,
        lengths: Sequence[int] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn the operator and its modes.

        Parameters
        ----------
        X, lengths : points or NeighborGraph, and sequence of int, optional
            As in `vbdm.estimate_operator`.
        y : ignored
            Present because scikit-learn passes it.
        sample_weight : (N,) array, optional
            `weights` of `vbdm.estimate_operator`.
        """
        run = as_run(self.run)
        X = to_engine(X, run.engine)
        X, place = placed_points(X, as_placement(run.placement), self.effort)
        X, rows = read_series(X, lengths, self.series)
        cloud = self._reduce(self._check_cloud(X))
        if isinstance(place, Dask):
            # The points, which told that there is a cluster, have been read.
            run = replace(run, placement=place)
        operator = estimate_operator(
            cloud, self.operator, weights=sample_weight, lengths=rows.lengths or None,
            series=self.series, epsilon=self.epsilon, dim=self.dim, bandwidth=self.bandwidth,
            effort=self.effort, metric=self.metric, period=self.period, method=self.method,
            run=run,
        )  # fmt: skip
        spectrum = operator.spectrum(
            self.n_components + 1, components=self.components, tol=self.tol
        )
        refuse_too_few(len(spectrum.eigenvalues) - 1, self.n_components)
        return self._remember(spectrum)

    @at_work("the extension")
    def transform(self, X: ArrayLike) -> FloatArray:
        """Return the coordinates of new points, and of training points among them.

        Parameters
        ----------
        X : (M, n) array or frame, or path
            With the columns of the training data. Arrays of Dask, Zarr and HDF5, and the paths of
            ``.npy``, ``.zarr`` and ``.parquet`` files, are read chunk by chunk.

        Returns
        -------
        (M, n_components) array
            At a training point its own, and beside it values close to these. NaN outside the data,
            and where a mode decays within one step of the kernel so that nothing is known about it;
            values of the nearest training point if outside="nearest".
        """
        points = self._check_new(X)
        mode = "nearest" if self.outside == "nearest" else "nan"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OutsideWarning)  # given below, for new points only
            extension = extend(self.spectrum_, points, outside=mode)
        # A training point, be it a stray, has its values.
        far = extension.outside & (extension.training < 0)
        if mode == "nan" and far.any():
            complain(far, strict=self.outside == "error")
        return self._coordinates(extension.values)

    def fit_transform(
        self,
        X: Cloud,
        y: None = None,
        lengths: Sequence[int] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> FloatArray:
        """Fit, and return `embedding_`: what `transform` gives at the training points."""
        self.fit(X, lengths=lengths, sample_weight=sample_weight)
        return self.embedding_

    @at_work("the extension")
    def density(self, X: ArrayLike) -> FloatArray:
        """Return the sampling density at new points; 0 outside the data."""
        points = self._check_new(X)
        return self.operator_.density_at(points)

    @at_work("the extension")
    def extend(self, f: ArrayLike, X: ArrayLike) -> FloatArray:
        """Return functions known on the training data, (N,) or (N, m), at new points.

        Second order in ε; f itself at training points; NaN outside (or as `outside` says).
        """
        points = self._check_new(X)
        return self.operator_.extend(f, points, outside=self.outside)

    def save(self, path: str | PathLike[str], *, kernel: bool = True) -> None:
        """Write the fitted model to one file; `vbdm.load(path)` gives it back.

        Parameters that are objects (a search engine, a rule) have done their work: the loaded
        model has their defaults instead. ``kernel=False`` makes the file smaller and
        loading slower (see `vbdm.save`).
        """
        from .io.saved.persistence import save

        check_is_fitted(self, "spectrum_")
        names = getattr(self, "feature_names_in_", None)
        model = {
            "parameters": {
                name: plain(value)
                for name, value in scatter(self.get_params()).items()
                if isinstance(value, KEPT)
            },
            "n_features_in": self.n_features_in_,
            "projection": None if self.projection_ is None else plain(self.projection_),
            "feature_names_in": None if names is None else [str(name) for name in names],
        }
        save(self.spectrum_, path, model=model, kernel=kernel)

    @classmethod
    def _from_saved(cls, spectrum: Spectrum, model: dict[str, Any]) -> Self:
        """Rebuild the fitted model from what `save` wrote."""
        result = cls(**gather(model["parameters"]))
        result.n_features_in_ = model["n_features_in"]
        if model["feature_names_in"] is not None:
            result.feature_names_in_ = np.array(model["feature_names_in"], dtype=object)
        held = model.get("projection")
        result.projection_ = None if held is None else Projection.from_dict(held)
        return result._remember(spectrum)

    @property
    def total_errors_(self) -> FloatArray:
        """Total errors of the eigenvalues, computed when first asked for."""
        return self.spectrum_.total_errors

    @property
    def intervals_(self) -> FloatArray:
        """95 % intervals of the eigenvalues, computed when first asked for."""
        return self.spectrum_.intervals()

    @property
    def eigenvalue_errors_(self) -> FloatArray:
        """Sampling errors of the eigenvalues alone, computed when first asked for."""
        return self.spectrum_.standard_errors

    @property
    @at_work("results")
    def embedding_(self) -> FloatArray:
        """Coordinates of the training points."""
        return self._coordinates(self.eigenfunctions_)

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_) - 1

    def __getstate__(self) -> dict[str, Any]:
        """Return what copies and pickles keep: a model on a device is copied into memory."""
        state: dict[str, Any] = super().__getstate__()
        spectrum = state.get("spectrum_")
        if spectrum is None or spectrum.on_host is spectrum:
            return state
        return state | vars(object.__new__(type(self))._remember(spectrum.on_host))

    def _remember(self, spectrum: Spectrum) -> Self:
        """Set the fitted attributes."""
        operator = spectrum.operator
        self.spectrum_, self.operator_, self.tuning_ = spectrum, operator, operator.tuning
        self.eigenvalues_, self.eigenfunctions_ = spectrum.eigenvalues, spectrum.eigenfunctions
        self.density_, self.unresolved_ = operator.density, spectrum.unresolved
        self.dim_, self.alpha_ = operator.dim, operator.settings.exponents.alpha
        self.epsilon_, self.n_neighbors_ = operator.epsilon, operator.n_neighbors
        return self

    def _coordinates(self, values: FloatArray) -> FloatArray:
        """Leave out the constant and let the modes decay for the diffusion time."""
        rates = self.eigenvalues_[1:]
        scale = np.ones(len(rates))
        if self.diffusion_time is not None:
            scale = np.exp(rates * self.diffusion_time)
        held = values[:, 1:]
        # Results in blocks are arrays of other libraries, but they are read into memory here.
        coordinates: FloatArray = held if is_elsewhere(held) else np.array(held)
        coordinates = coordinates * beside_array(scale, held)
        for lost in np.flatnonzero(np.isnan(rates)).tolist():
            coordinates[:, lost] = 0.0 if self.outside == "nearest" else np.nan
        return coordinates
