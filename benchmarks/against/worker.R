# The side of a program of R: Rscript worker.R FOLDER
#
# FOLDER/job.R sets `script`, `call`, `package`, `budget`, `cases` and `options`;
# FOLDER/<case>.X.csv and FOLDER/<case>.y.csv hold the arrays of each case (counted from 0).
# Writes FOLDER/answers.txt: "version 1.2", "megabytes 3.4", "first 0.1", and for each case
# "<case> seconds 0.1", "<case> waited 0.2", "<case> <name> <numbers>"; or "error <message>".

folder <- commandArgs(trailingOnly = TRUE)[1]
source(file.path(folder, "job.R"))

resident <- function(field) {
  lines <- tryCatch(readLines("/proc/self/status"), error = function(e) character(0))
  line <- grep(paste0("^", field), lines, value = TRUE)
  if (length(line)) as.numeric(gsub("[^0-9]", "", line)) / 1024 else NA
}

read_array <- function(case, name) {
  path <- file.path(folder, paste0(case, ".", name, ".csv"))
  if (file.exists(path)) unname(as.matrix(read.csv(path, header = FALSE))) else NULL
}

numbers <- function(values) paste(formatC(as.numeric(values), digits = 17, format = "g"), collapse = " ")

answer <- function() {
  suppressMessages(library(package, character.only = TRUE))
  source(script)
  data <- lapply(seq_len(cases) - 1, function(i) list(X = read_array(i, "X"), y = read_array(i, "y")))
  invisible(gc())
  try(cat("5", file = "/proc/self/clear_refs"), silent = TRUE)
  before <- resident("VmRSS")
  lines <- character(0)
  first <- NA
  for (i in seq_len(cases)) {
    runs <- c()
    waited <- c()
    while (!length(runs) || (sum(runs) < budget && length(runs) < 50)) {
      started <- proc.time()
      results <- do.call(call, c(list(X = data[[i]]$X, y = data[[i]]$y), options))
      spent <- proc.time() - started
      runs <- c(runs, sum(spent[c("user.self", "sys.self")]))
      waited <- c(waited, spent["elapsed"])
    }
    if (is.na(first)) first <- runs[1]
    # The clock of R counts milliseconds: the mean of many calls says more than the least.
    lines <- c(lines, paste(i - 1, "seconds", numbers(mean(runs))))
    lines <- c(lines, paste(i - 1, "waited", numbers(mean(waited))))
    for (name in names(results)) lines <- c(lines, paste(i - 1, name, numbers(results[[name]])))
  }
  peak <- max(resident("VmHWM") - before, 0)
  c(paste("version", packageVersion(package)), paste("megabytes", peak), paste("first", first), lines)
}

lines <- tryCatch(answer(), error = function(problem) {
  paste("error", gsub("\\s+", " ", conditionMessage(problem)))
})
writeLines(lines, file.path(folder, "answers.txt"))
