"""Best subsets as an optimizer for PySINDy; see the how-to page."""

import numpy as np
from pysindy.optimizers import BaseOptimizer

from columnist import SubsetRegressor


class BestSubsetOptimizer(BaseOptimizer):
    """Proven best subsets of the library, one for each equation.

    Parameters
    ----------
    n_terms : int, sequence of int or str
        Terms of each equation: one number for all, one for each, or a rule for the size.
    alpha : float, default=0.0
        Ridge penalty.
    time_limit : float or None, default=30.0
        Seconds for each equation.

    Attributes
    ----------
    models_ : list of SubsetRegressor
        One for each equation, with ``certificate_`` and ``path_``.
    """

    def __init__(self, n_terms, alpha=0.0, time_limit=30.0, copy_X=True):
        super().__init__(max_iter=1, copy_X=copy_X, unbias=False)
        self.n_terms = n_terms
        self.alpha = alpha
        self.time_limit = time_limit

    def _reduce(self, x, y):
        one = isinstance(self.n_terms, str) or np.ndim(self.n_terms) == 0
        sizes = [self.n_terms] * y.shape[1] if one else list(self.n_terms)
        options = {"alpha": self.alpha, "fit_intercept": False, "time_limit": self.time_limit}
        self.models_ = [
            SubsetRegressor(size, **options).fit(x, target)
            for size, target in zip(sizes, np.asarray(y).T, strict=True)
        ]
        self.coef_ = np.array([model.coef_ for model in self.models_])
        self.history_.append(self.coef_)
