"""What the estimator inherits from scikit-learn; `_sklearn.pyi` beside it says what type it has.

scikit-learn has no types. Without these, whatever is written after ``DiffusionMap().`` would pass
a type checker.
"""

from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.base import (
    _fit_context as fit_context,
)

__all__ = ["BaseEstimator", "ClassNamePrefixFeaturesOutMixin", "TransformerMixin", "fit_context"]
