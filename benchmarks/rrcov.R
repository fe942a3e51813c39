# Fits rrcov's PcaHubert: Rscript rrcov.R FOLDER
#
# FOLDER/jobs.csv lists problems (name, components, mcd); FOLDER/<name>.csv holds the rows of each.
# Writes FOLDER/<name>.txt: one line for each result, its name and then its numbers.
# "pairs" are the rows (counted from 1) that define the directions of the projection pursuit:
# the directions through unit vectors show which rows were taken.

suppressMessages(library(rrcov))
folder <- commandArgs(trailingOnly = TRUE)[1]
jobs <- read.csv(file.path(folder, "jobs.csv"), stringsAsFactors = FALSE)

pairs_of <- function(n, most = 250) {
  directions <- rrcov:::extradir(diag(n), most, all = n * (n - 1) / 2 <= most)
  cbind(apply(directions, 1, which.max), apply(directions, 1, which.min))
}

for (job in seq_len(nrow(jobs))) {
  name <- jobs$name[job]
  X <- as.matrix(read.csv(file.path(folder, paste0(name, ".csv")), header = FALSE))
  set.seed(0)
  results <- tryCatch({
    fit <- PcaHubert(X, k = jobs$components[job], alpha = 0.75, mcd = jobs$mcd[job] == 1)
    list(
      loadings = fit@loadings, eigenvalues = fit@eigenvalues, center = fit@center,
      score_distances = fit@sd, orthogonal_distances = fit@od,
      cutoffs = c(fit@cutoff.sd, fit@cutoff.od), kept = fit@flag, h = fit@quan,
      pairs = t(pairs_of(nrow(X)))
    )
  }, error = function(problem) list(error = gsub("\\s+", " ", conditionMessage(problem))))
  lines <- sapply(names(results), function(key) {
    values <- results[[key]]
    if (!is.character(values)) values <- formatC(as.numeric(values), digits = 17, format = "g")
    paste(c(key, values), collapse = " ")
  })
  writeLines(lines, file.path(folder, paste0(name, ".txt")))
}
cat(as.character(packageVersion("rrcov")))
