# subselect: eleaps finds the subset of largest RM coefficient, that is of least squared error.

select <- function(X, y, k, timelimit = 20) {
  found <- subselect::eleaps(cov(X), kmin = k, kmax = k, criterion = "RM", timelimit = timelimit)
  list(columns = sort(as.vector(found$bestsets)) - 1)
}
