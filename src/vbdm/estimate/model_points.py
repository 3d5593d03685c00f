"""The points of a scikit-learn estimator: checked, reduced by PCA, and read chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted, validate_data

from ..base.arrays import FloatArray, beside_array, is_elsewhere, to_host
from ..base.parameters import Answering
from ..base.points import check_points, points_in, refuse_masked
from ..base.sklearn_types import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from ..engines.choose import to_engine
from ..errors import InputError
from ..graph.neighbor_graph import NeighborGraph
from ..operator.run import as_run
from ..prepare.projection import Projection, pca
from ..rows.sources import Chunks, open_points


class ModelPoints(Answering, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What an estimator does with training points and new ones before it computes."""

    metric: Any
    run: Any
    n_components: int
    pca: int | float | None
    projection_: Projection | None

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what `X` may be: distances, also sparse ones, if precomputed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.sparse = self._is_precomputed
        tags.input_tags.positive_only = self._is_precomputed
        return tags

    @property
    def _is_precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _check_cloud(self, X: Any) -> Any:
        """Return the checked points, distances or graph, and remember the columns."""
        if isinstance(X, NeighborGraph):
            self.__dict__.pop("feature_names_in_", None)
            self.n_features_in_ = X.order.n_rows if X.points is None else X.points.shape[1]
            n_points = X.order.n_rows
        elif is_elsewhere(X):
            X = check_points(X, placed=lambda there: there)
            self.__dict__.pop("feature_names_in_", None)
            n_points, self.n_features_in_ = X.shape
        else:
            given = self._is_precomputed
            if given:
                refuse_masked(X, "distances")
            X = validate_data(
                self, X if given else points_of(X), accept_sparse="csr" if given else False,
                dtype=np.float64, ensure_min_samples=2, ensure_non_negative=given,
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
        source = open_points(to_engine(X, as_run(self.run).engine))
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
            points = check_points(
                X, at_least=0, n_columns=self.n_features_in_, placed=lambda there: there
            )
        else:
            points = validate_data(self, points_of(X), dtype=np.float64, reset=False)
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


def points_of(X: Any) -> Any:
    """Return what holds the points; scikit-learn refuses sparse and complex data itself."""
    foreign = issparse(X) or getattr(getattr(X, "dtype", None), "kind", "") == "c"
    return X if foreign else points_in(X)


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
