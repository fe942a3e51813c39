"""Columnist: best-subset regression and classification."""

from __future__ import annotations

from sklearn.model_selection import GridSearchCV

from columnist import SubsetClassifier, SubsetRegressor


def certified(fitted):
    """The columns and what is proven."""
    certificate = fitted.certificate_
    return {
        "columns": fitted.selected_,
        "bound": certificate.lower_bound,
        "gap": certificate.gap,
        "proven": certificate.status == "optimal",
    }


def regress(X, y, k, time_limit, alpha=0.0):
    """Columns for one target or several."""
    return certified(SubsetRegressor(k, alpha=alpha, time_limit=time_limit).fit(X, y))


def by_rule(X, y, rule, time_limit):
    """Columns for one target, as many as a rule wants: a proof is one of choice and size."""
    fitted = SubsetRegressor(rule, time_limit=time_limit).fit(X, y)
    found = certified(fitted)
    return {
        "columns": found["columns"],
        "gap": found["gap"],
        "proven": bool(found["proven"] and fitted.path_.proven),
    }


def classify(X, y, k, time_limit, alpha):
    """Columns for two classes."""
    return certified(SubsetClassifier(k, alpha=alpha, time_limit=time_limit).fit(X, y))


def tuned(X, y, sizes, alphas, time_limit, n_folds=3):
    """A classifier, with the size and the ridge of the least log loss on rows left out."""
    grid = {"n_features_to_select": list(sizes), "alpha": list(alphas)}
    model = SubsetClassifier(time_limit=time_limit)
    return GridSearchCV(model, grid, scoring="neg_log_loss", cv=n_folds).fit(X, y)


def labels(X, y, new, sizes, alphas, time_limit):
    """Classes of new rows."""
    found = tuned(X, y, sizes, alphas, time_limit)
    return {"labels": found.predict(new), "size": len(found.best_estimator_.selected_)}
