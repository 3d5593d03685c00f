"""The scikit-learn estimator: the whole walk behind `fit`, new points behind `transform`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted, validate_data

from .base.arrays import FloatArray, beside_array, is_elsewhere, to_host
from .base.files import plain
from .base.parameters import Answering
from .base.points import check_points, points_in, refuse_masked
from .base.sklearn_types import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    constraints_of,
    fit_context,
)
from .engines.choose import to_engine
from .engines.engine import at_work
from .errors import InputError, OutsideWarning
from .estimate import estimate_operator
from .extension.extension import complain, extend
from .graph.neighbor_graph import NeighborGraph
from .kernel.bandwidth import BandwidthRule, PerPoint
from .kernel.dimension import DimensionRule
from .kernel.tuning import EpsilonRule
from .operator.arguments import gather, scatter
from .operator.method import Paper, Resolved
from .operator.run import as_run
from .placement import Dask, as_placement, placed_points
from .prepare.projection import Projection, pca
from .prepare.series import read_series
from .rows.sources import Chunks, opened
from .spectrum.spectrum import Spectrum

#: What a model is fitted to.
Cloud = ArrayLike | Sequence[ArrayLike] | NeighborGraph
#: Types of parameters that a saved model keeps; objects such as a solver have done their work.
KEPT = (str, int, float, list, tuple, np.generic, np.ndarray)


class DiffusionMap(Answering, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
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
    eigenvalues_ : (n_components + 1,) array
        Eigenvalues of L, from 0 (the constant, which has no coordinate) downwards.
    total_errors_ : (n_components + 1,) array
        Their total errors, standard deviations: sampling, sparse tails, ε, noise and edges
        together. Computed when first asked for.
    intervals_ : (n_components + 1, 2) array
        Lower and upper ends of their 95 % intervals; `spectrum_.intervals(level)` gives others.
    eigenvalue_errors_ : (n_components + 1,) array
        Their sampling errors alone.
    eigenfunctions_ : (N, n_components + 1) array
        One eigenfunction per column, of mean square 1; the first belongs to the eigenvalue 0. An
        array of Zarr or Dask where rows live on disk or on a cluster (see `vbdm.Run`).
    embedding_ : (N, n_components) array
        The coordinates: all eigenfunctions but the first, scaled by `diffusion_time`. Column 0,
        called "diffusionmap0" as scikit-learn counts, is eigenfunction 1. Where an eigenvalue is
        NaN, the mode decays within one step of the kernel and is no coordinate: its column is NaN,
        or 0, its limit, if outside="nearest".
    density_ : (N,) array
        Sampling density, per unit of d-dimensional volume. An array of Zarr or Dask where
        `eigenfunctions_` are one.
    dim_, epsilon_, alpha_ : float
        The dimension d, the scale ε and the exponent α in use.
    n_neighbors_ : int
        Mean number of pairs per point; by lists, their length k, the point itself included.
    unresolved_ : (N,) bool array
        Points whose surroundings are too sparse to be trusted.
    spectrum_, operator_, tuning_ : Spectrum, Operator, Tuning
        The results themselves.
    projection_ : Projection or None
        What `pca` made of the columns.
    n_features_in_ : int
        Number n of columns of the training data.
    feature_names_in_ : (n,) array
        Names of these columns, if they had any.

    See Also
    --------
    vbdm.estimate_operator : The same walk without scikit-learn, with every option.

    Notes
    -----
    **Disconnected data** has one eigenvalue 0 for each piece, and these eigenfunctions are the
    indicators of the pieces, largest first. They carry information and stay in the embedding, all
    but the first: the largest piece is where the others are 0.

    **Search once.** `fit` also takes a `NeighborGraph`, so that changing ε, ρ, c1, `n_components`
    or `method` does not repeat the search; nothing is cached behind your back::

        graph = vbdm.neighbors(X, 200)
        maps = [DiffusionMap(operator=c1).fit(graph) for c1 in (0, 0.5, 1)]

    Neighbours are then not added: a `SaturatedNeighborsWarning` says if the graph has too few.

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
    >>> lower, upper = model.intervals_[1]     # 95 %
    >>> bool(lower < -1 < upper)
    True
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
        X : (N, n) array or frame, path, distances if metric="precomputed", or NeighborGraph
            The points, or their neighbours (to search once and fit many times). A list of arrays
            with the same n columns are points of several time series. Of an AnnData object the
            coordinates in ``obsm["X_pca"]`` are taken. For paths, and arrays of Zarr and Dask, see
            `vbdm.estimate_operator`.
        y : ignored
            Present because scikit-learn passes it.
        lengths : sequence of int, optional
            Numbers of rows of several time series that follow each other in `X`.
        sample_weight : (N,) array, optional
            Positive weights of the points, if another density than theirs is wanted; `weights` of
            `vbdm.estimate_operator`. A Laplacian does not depend on the density, nor on weights.
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
        """Return functions known on the training data at new points.

        Parameters
        ----------
        f : (N,) or (N, m) array
            Values on the training points, in their order.
        X : (M, n) array
            New points.

        Returns
        -------
        (M,) or (M, m) array
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

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what `X` may be: distances, also sparse ones, if precomputed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.sparse = self._is_precomputed
        tags.input_tags.positive_only = self._is_precomputed
        return tags

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _remember(self, spectrum: Spectrum) -> Self:
        """Set the fitted attributes."""
        operator = spectrum.operator
        self.spectrum_, self.operator_, self.tuning_ = spectrum, operator, operator.tuning
        self.eigenvalues_, self.eigenfunctions_ = spectrum.eigenvalues, spectrum.eigenfunctions
        self.density_, self.unresolved_ = operator.density, spectrum.unresolved
        self.dim_, self.alpha_ = operator.dim, operator.settings.exponents.alpha
        self.epsilon_, self.n_neighbors_ = operator.epsilon, operator.n_neighbors
        return self

    def _check_cloud(self, X: Any) -> Any:
        """Return the checked points, distances or graph, and remember the columns."""
        if isinstance(X, NeighborGraph):
            self.__dict__.pop("feature_names_in_", None)
            self.n_features_in_ = X.order.n_rows if X.points is None else X.points.shape[1]
            n_points = X.order.n_rows
        elif is_elsewhere(X):
            X = check_points(X, placed=as_it_is)
            self.__dict__.pop("feature_names_in_", None)
            n_points, self.n_features_in_ = X.shape
        else:
            given = self._is_precomputed
            X = read_array(X, given)
            X = validate_data(
                self, X, accept_sparse="csr" if given else False, dtype=np.float64,
                ensure_min_samples=2, ensure_non_negative=given,
            )  # fmt: skip
            n_points = X.shape[0]
        wide = self.n_features_in_ > max(n_points, self.n_components)
        refuse_too_few(n_points - 1, self.n_components, wide)
        return X

    def _check_new(self, X: Any) -> Any:
        """Return new points with the columns of the training data, checked now or chunk by chunk.

        Points that are not in memory stay `Chunks`.
        """
        check_is_fitted(self, "spectrum_")
        self._validate_params()  # some may have changed since `fit`
        source = opened(to_engine(X, as_run(self.run).engine))
        if not isinstance(source, Chunks):
            return self._columns_of(source)
        n_columns = source.shape[1]
        if self.projection_ is not None:
            n_columns = self.projection_.n_columns
        return Chunks(
            source.what, (source.shape[0], n_columns), partial(self._checked_chunks, source)
        )

    def _checked_chunks(self, source: Chunks) -> Iterator[FloatArray]:
        """Yield new points that are read chunk by chunk."""
        for chunk in source.checked().read():
            if len(chunk):
                yield self._columns_of(chunk)

    def _columns_of(self, X: Any) -> FloatArray:
        """Return new points, checked and projected as the training points were."""
        points: FloatArray
        if is_elsewhere(X):
            points = check_points(X, at_least=0, n_columns=self.n_features_in_, placed=as_it_is)
        else:
            points = validate_data(self, read_array(X), dtype=np.float64, reset=False)
        return self._projected(points)

    def _reduce(self, cloud: Any) -> Any:
        """Return the points in their principal directions, if these are asked for."""
        self.projection_ = None
        if self.pca is None:
            return cloud
        if isinstance(cloud, NeighborGraph) or self._is_precomputed:
            seen = "a graph" if isinstance(cloud, NeighborGraph) else "distances"
            raise InputError(
                f"`pca` is for points; received {seen}. Leave it out, or pass the points."
            )
        self.projection_ = pca(to_host(cloud), self.pca)
        return self._projected(cloud)

    def _projected(self, points: Any) -> FloatArray:
        """Return points in the principal directions, if there are any; they stay where they are."""
        found: FloatArray = points
        if self.projection_ is not None:
            found = beside_array(self.projection_.apply(to_host(points)), points)
        return found

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


def as_it_is(X: Any) -> Any:
    """Return the points as they are, on a device say."""
    return X


def read_array(X: Any, precomputed: bool = False) -> Any:
    """Return what holds the points, with words for what scikit-learn would take or misname."""
    if precomputed:
        refuse_masked(X, "distances")
        return X
    # scikit-learn has words of its own for sparse and complex data.
    told = issparse(X) or getattr(getattr(X, "dtype", None), "kind", "") == "c"
    return X if told else points_in(X)


def refuse_too_few(available: int, wanted: int, wide: bool = False) -> None:
    """Refuse if fewer modes are available beside the constant than coordinates are wanted.

    `wide` tells that there are more columns than rows: the table may be transposed.
    """
    if available < wanted:
        raise InputError(
            f"`n_components` must be at most {available} here; received n_components={wanted}. "
            "Ask for fewer components, or give more "
            f"points{(': X.T, if its rows are the points.' if wide else '.')}"
        )
