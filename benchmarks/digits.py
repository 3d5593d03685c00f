"""Handwritten digits: a grid search over β, operator and k before a 5-nearest-neighbour classifier,
beside scikit-learn's SpectralEmbedding: ``python benchmarks/digits.py`` (a minute or two).

The test folds of `DiffusionMap` are new points and go through `transform`. `SpectralEmbedding` has
no `transform`: it is fitted on all rows, so its coordinates have already seen the test folds.

The automatic settings aim at an accurate operator, which takes wide kernels in 6 dimensions; to
tell classes apart few neighbours are better, for both.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.manifold import SpectralEmbedding
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import record
import vbdm

GRID = {
    "diffusionmap__bandwidth": ["auto", vbdm.rules.PowerOfDensity(0)],
    "diffusionmap__method": ["resolved", vbdm.Resolved(n_neighbors=16)],
    "diffusionmap__operator": ["laplacian", "generator"],
}


def load(n_rows=None):
    """Return pixels and labels, all 1,797 or the first few rows."""
    X, y = load_digits(return_X_y=True)
    return X[:n_rows], y[:n_rows]


def grid_search(folds, grid=GRID):
    """Return the search; "nearest" because the classifier refuses NaN."""
    embed = vbdm.DiffusionMap(n_components=10, outside="nearest")
    return GridSearchCV(make_pipeline(embed, KNeighborsClassifier(5)), grid, cv=folds)


def spectral_embedding_scores(X, y, folds, n_neighbors=None):
    """Return the accuracy in each fold, with coordinates fitted on all rows; None: N/10."""
    embed = SpectralEmbedding(n_components=10, n_neighbors=n_neighbors, random_state=0)
    return cross_val_score(KNeighborsClassifier(5), embed.fit_transform(X), y, cv=folds)


def describe_defaults(X):
    """Say what the automatic settings are on these data, and which doubts were raised."""
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        model = vbdm.DiffusionMap(n_components=10).fit(X)
    print(f"all rows: dimension {model.dim_:.1f}, {model.n_neighbors_} neighbours, "
          f"{int(model.unresolved_.sum())} unresolved points")  # fmt: skip
    for warning in raised:
        print(f"  {warning.category.__name__}: {warning.message}")


def shown(name, scores, words=""):
    mean, spread = np.mean(scores), np.std(scores)
    print(f"  {name:28s} {mean:.4f} ± {spread:.4f}   {words}".rstrip(), flush=True)
    return {"by": name, "settings": words, "accuracy": mean, "spread": spread}


def main():
    parser = record.parser(__doc__)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--seed", type=int, default=0, help="of the folds")
    parser.add_argument("--nested", action="store_true", help="choose inside each training fold")
    options = record.given(parser, rows=200)
    X, y = load(options.rows)
    folds = StratifiedKFold(5, shuffle=True, random_state=options.seed)
    describe_defaults(X)
    warnings.simplefilter("ignore", vbdm.VbdmWarning)
    print("accuracy of 5 nearest neighbours in 10 components, mean and spread over five folds")
    results = grid_search(folds).fit(X, y).cv_results_
    scores, rows = np.array([results[f"split{fold}_test_score"] for fold in range(5)]).T, []
    for setting, row in zip(results["params"], scores, strict=True):
        words = [f"{name.split('__')[1]}={value}" for name, value in setting.items()]
        rows.append(shown("DiffusionMap, new points", row, ", ".join(words)))
    if options.nested:
        nested = cross_val_score(grid_search(3), X, y, cv=folds)
        rows.append(shown("DiffusionMap, nested search", nested))
    for k in (None, 16):
        scores = spectral_embedding_scores(X, y, folds, k)
        words = f"n_neighbors={k or len(X) // 10}"
        rows.append(shown("SpectralEmbedding, all rows", scores, words))
    scores = cross_val_score(KNeighborsClassifier(5), X, y, cv=folds)
    rows.append(shown("no embedding, 64 pixels", scores))
    record.save(options, rows)


if __name__ == "__main__":
    main()
