#!/bin/sh
# Programs outside Python: a browser for tests of reports, R for tests against other people's
# methods, npm for the formulas of the documentation. Without them those tests say that they were
# skipped, so nothing here is an error.
set -u

need=""
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || need="$need chromium"
command -v npm >/dev/null || need="$need npm"
for name in leaps rrcov; do
    Rscript -e "quit(status = !requireNamespace('$name', quietly = TRUE))" >/dev/null 2>&1 ||
        need="$need r-cran-$name"
done

if [ -z "$need" ]; then
    echo "browser, npm and R are installed"
elif [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "not installed:$need (needs apt-get, as root)"
elif
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q >/dev/null
    # shellcheck disable=SC2086 # a list of names
    apt-get install -q -y --no-install-recommends $need >/dev/null
then
    echo "installed:$need"
else
    echo "could not be installed:$need"
fi
