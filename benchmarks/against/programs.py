"""The other programs: what they are, and what installs them."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["BASE", "PROGRAMS", "R_PROGRAMS", "Program", "RProgram"]

# What every Python program gets, unless it asks for something older.
BASE = ("numpy>=2.0", "scipy>=1.13", "scikit-learn>=1.6")


@dataclass(frozen=True)
class Program:
    """A Python package with an environment of its own.

    ``needs`` is what pip is asked for: the package, and what it forgets to ask for itself.
    """

    name: str
    needs: tuple[str, ...]
    about: str

    @property
    def package(self) -> str:
        """Name of the distribution, for its version."""
        return self.needs[0].split(">")[0]


@dataclass(frozen=True)
class RProgram:
    """A package of R; ``debian`` is its Debian package, None if there is none."""

    name: str
    debian: str | None
    about: str

    @property
    def missing(self) -> str:
        """The line that stands for it where it is not installed."""
        how = f"Debian: {self.debian}" if self.debian else "not packaged by Debian"
        return f"R package {self.name} is not installed ({how})"


PROGRAMS = {
    program.name: program
    for program in (
        Program("fastcan", ("fastcan>=0.6",), "forward and beam search by canonical correlation"),
        Program("scikit-matter", ("skmatter>=0.3",), "CUR and farthest-point sampling"),
        Program("abess", ("abess>=0.4.11",), "best subsets by splicing"),
        Program("okridge", ("okridge>=0.1.1", "requests>=2.0"), "exact k-sparse ridge regression"),
        Program("l0bnb", ("l0bnb>=1.0", "numpy<2.0"), "exact regression, L0 and L2 penalties"),
        Program(
            "skfeature-chappers",
            ("skfeature-chappers>=1.1", "pandas>=2.0"),
            "scores of features, the collection of a survey",
        ),
        Program("fast-select", ("fast-select>=0.3",), "the Relief family, compiled by Numba"),
        Program("skrebate", ("skrebate>=0.8.4",), "the Relief family"),
        Program("mrmr-selection", ("mrmr-selection>=0.2.8",), "relevance and redundancy"),
        Program("robpy", ("robpy>=0.0.6",), "robust statistics"),
    )
}
R_PROGRAMS = {
    program.name: program
    for program in (
        RProgram("subselect", None, "exact subsets (eleaps)"),
        RProgram("leaps", "r-cran-leaps", "exact regression subsets"),
        RProgram("rrcov", "r-cran-rrcov", "robust statistics, ROBPCA by its authors' school"),
    )
}
