# rrcov: robust principal components. Axes come one after the other.

hubert <- function(X, y, n_components) {
  set.seed(0)
  fit <- rrcov::PcaHubert(X, k = n_components, alpha = 0.75)
  list(axes = as.vector(fit@loadings), centre = fit@center)
}
