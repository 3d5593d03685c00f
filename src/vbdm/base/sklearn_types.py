"""What the estimator takes from scikit-learn; `sklearn_types.pyi` beside it says what type it has.

scikit-learn has no types. Without these, whatever is written after ``DiffusionMap().`` would pass
a type checker.
"""

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import HasMethods

from .parameters import PARAMETERS

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "TransformerMixin",
    "constraints_of",
    "fit_context",
]


class Fits(HasMethods):
    """A kind of values in the table of parameters, as one of scikit-learn's constraints."""

    def __init__(self, kind):
        super().__init__(["fits"])
        self.kind = kind

    def is_satisfied_by(self, val):
        """Tell whether a value is of this kind."""
        return self.kind.fits(val)

    def __str__(self):
        return self.kind.words


def constraints_of(names):
    """Return the constraints of parameters by their names, each a list of kinds."""
    return {name: [Fits(kind) for kind in PARAMETERS[name].kinds] for name in names}
