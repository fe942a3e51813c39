# leaps: regression subsets, by branch and bound over all of them.

select <- function(X, y, k) {
  found <- leaps::regsubsets(X, as.vector(y), nvmax = k, nbest = 1,
                             method = "exhaustive", really.big = TRUE)
  list(columns = which(summary(found)$which[k, -1]) - 1)
}

# As many columns as the criterion of Bayes wants.
by_bic <- function(X, y) {
  most <- min(ncol(X), nrow(X) - 2)
  found <- summary(leaps::regsubsets(X, as.vector(y), nvmax = most, nbest = 1,
                                     method = "exhaustive", really.big = TRUE))
  list(columns = which(found$which[which.min(found$bic), -1]) - 1)
}
