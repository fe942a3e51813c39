"""The tables: found, chosen by name, and true to the print."""

from __future__ import annotations

import csv
import os
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from reproduction import DOCUMENTS, list_tables, stored
from reproduction.catalogue import MODULES, Catalogue, catalogue
from reproduction.cells import Cell, last_unit, p_value, random_tolerance
from reproduction.data import Data, MissingData
from reproduction.printed import FOLDER as PRINTED
from reproduction.printed import printed
from reproduction.reasons import is_honest
from reproduction.registry import PrintedTable, Run, by_set

FILES = sorted(path.stem for path in PRINTED.glob("*.csv"))

# Where the transcription has no column "value": the columns that hold figures.
FIGURES = {
    "xu-4.2": ("rows_m", "columns_n"),
    "xu-5.2": ("examples_m", "features_n"),
    "xu-6.4": ("rows_m", "columns_n", "labels"),
    "xu-7.1": ("instances", "features", "labels"),
    "xu-8.1": ("instances", "features", "labels"),
    "xu-9.1": ("x1", "x2", "cleaned_x1", "cleaned_x2", "y_d", "y_c"),
    "xu-9.2": ("instances", "features", "labels"),
    "zl-4.2": ("features", "instances", "classes"),
    "zl-6.6": ("rank", "gene"),
    "he-fig5.1": ("x", "y"),
    "he-sec3.2.1-matrices": ("col1", "col2", "col3"),
    "wastar-4": ("column_indices",),
}


def reference_folder() -> Path | None:
    """The folder of transcriptions beside the data, if it is there."""
    home = os.environ.get("COLUMNIST_DATA")
    folder = Path(home).resolve().parent / "reference" if home else None
    return folder if folder is not None and folder.is_dir() else None


def transcribed(name: str) -> Counter[str]:
    """Figures of a transcription."""
    folder = reference_folder()
    if folder is None:
        pytest.skip("no transcriptions beside the data")
    rows = list(csv.DictReader((folder / f"{name}.csv").read_text(encoding="utf-8").splitlines()))
    columns = FIGURES.get(name) or ("value", "p_value")
    return Counter(row[c] for row in rows for c in columns if row.get(c))


def is_statement(name: str) -> bool:
    """Files that hold statements of the text, and curves without printed numbers."""
    return name == "zl-examples" or name.startswith("xu-fig")


def test_printed_files_are_tables():
    assert len(FILES) > 50
    for name in FILES:
        text = (PRINTED / f"{name}.csv").read_text(encoding="utf-8")
        head, *rows = csv.reader(text.splitlines())
        assert rows and len(set(head)) == len(head), name
        assert all(len(row) == len(head) for row in rows), name
        assert all(cell == cell.strip() for row in [head, *rows] for cell in row), name


@pytest.mark.data
def test_printed_figures_are_those_of_the_transcription():
    """Every figure of the print stands in our file, as often as in print."""
    # In he-5.1 our file joins a set of points, sorted, with its mark: it is compared as a table.
    for name in [n for n in FILES if not is_statement(n) and n != "he-5.1"]:
        text = (PRINTED / f"{name}.csv").read_text(encoding="utf-8")
        fields = Counter(field for row in csv.reader(text.splitlines()) for field in row)
        assert not transcribed(name) - fields, name


@pytest.mark.data
def test_printed_sets_of_points_are_those_of_the_transcription():
    folder = reference_folder()
    if folder is None:
        pytest.skip("no transcriptions beside the data")
    rows = csv.DictReader((folder / "he-5.1.csv").read_text(encoding="utf-8").splitlines())
    theirs = Counter(
        " ".join([*sorted(row["outliers"].split(), key=lambda point: point.zfill(3)), row["mark"]])
        for row in rows
        if row["mark"]
    )
    toys = ("Tall-L", "Short-L", "Trapezoid")
    assert theirs == Counter(row[toy] for row in printed("he-5.1") for toy in toys if row[toy])


def test_every_module_can_be_read_and_names_are_unique():
    found = catalogue()
    assert not found.broken
    assert len(found.tables) == sum(len(catalogue([module]).tables) for module in MODULES)


def test_tables_are_described_and_in_order():
    names = [table.name for table in list_tables()]
    assert all(table.title and table.document in DOCUMENTS.values() for table in list_tables())
    documents = [name.partition("-")[0] for name in names]
    assert documents == sorted(documents, key=list(DOCUMENTS).index)
    assert names.index("xu-4.2") < names.index("xu-5.2") < names.index("xu-5.3")


def test_a_module_that_fails_hides_no_other(tmp_path, monkeypatch):
    package = tmp_path / "some_tables_of_a_test"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "bad.py").write_text("raise RuntimeError('no luck')")
    (package / "good.py").write_text(
        "from reproduction import PrintedTable\n"
        "TABLES = (PrintedTable('he-10.2', 'b', iter), PrintedTable('he-9.12', 'a', iter))\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    found = catalogue(["bad", "missing", "good"], package.name)
    assert list(found.tables) == ["he-9.12", "he-10.2"]
    assert found.broken["bad"] == "RuntimeError: no luck"
    assert "missing" in found.broken["missing"]
    with pytest.raises(ValueError, match="could not be read: bad, missing"):
        found.chosen("he-9.1")


def some_tables() -> Catalogue:
    names = ("xu-4.3", "xu-5.3", "he-3.1", "he-3.2", "he-4.1")
    return Catalogue({name: PrintedTable(name, name, lambda run: iter(())) for name in names})


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("all", ["xu-4.3", "xu-5.3", "he-3.1", "he-3.2", "he-4.1"]),
        ("he", ["he-3.1", "he-3.2", "he-4.1"]),
        (["he-3.*"], ["he-3.1", "he-3.2"]),
        (["he-4.1", "xu", "he-4.1"], ["xu-4.3", "xu-5.3", "he-4.1"]),
        ([], []),
    ],
)
def test_choice_by_name(asked, names):
    assert [table.name for table in some_tables().chosen(asked)] == names


@pytest.mark.parametrize(
    ("asked", "hint"),
    [("he-3.3", "Did you mean he-3.2 or he-3.1"), ("xu-53", "xu-5.3"), ("h", "one of all, xu, he")],
)
def test_misspelt_names_get_close_matches(asked, hint):
    with pytest.raises(ValueError, match=f"{asked!r}") as error:
        some_tables().chosen([asked])
    assert hint in str(error.value)


def test_a_missing_set_costs_only_its_own_rows():
    rows = [{"set": s, "a": str(i)} for i, s in enumerate(["x", "x", "y", "z"])]

    def compute(name, part):
        if name == "y":
            raise MissingData("needs y")
        yield from (Cell(row["a"], row["a"], 1.0, "reproduced") for row in part)

    cells = list(by_set(rows, compute, lambda row: iter([(row["a"], row["a"])])))
    assert [cell.where for cell in cells] == ["0", "1", "2", "3"]
    assert [cell.verdict for cell in cells] == ["reproduced"] * 2 + ["not possible", "reproduced"]
    assert cells[2].why == "needs y"


def test_a_set_that_is_not_there_says_how_to_get_it(tmp_path):
    with pytest.raises(MissingData, match="columnist data fetch vehicle"):
        Data(tmp_path).matrix("vehicle")


# Figures of the print that are input and so no cells: table, columns of the transcription.
INPUT = {
    "he-2.1": ["160", "173", "185", "17", "26", "40", "98", "121", "174"],
}
MINE = [t for t in list_tables() if t.name in FILES and t.name.split(".")[0] in
        ("xu-4", "xu-5", "he-2", "he-3", "wastar-3", "wastar-4")]  # fmt: skip


@pytest.mark.data
@pytest.mark.parametrize("table", MINE, ids=lambda table: table.name)
def test_every_printed_figure_is_a_cell(table, tmp_path):
    """Without any data: the cells are still there, one for each figure, in the same text."""
    cells = list(table.cells(Run(Data(tmp_path), quick=True)))
    assert Counter(cell.printed for cell in cells) == transcribed(table.name) - Counter(
        INPUT.get(table.name, ())
    )
    assert len({cell.where for cell in cells}) == len(cells)
    assert all(cell.why for cell in cells if cell.verdict in ("different", "not possible"))


def judged(cell: Cell) -> str:
    """The verdict that follows from print, tolerance and our figure."""
    ours, figure = float(cell.ours), float(cell.printed)
    if cell.where.endswith("p value"):
        return p_value("", cell.printed, ours, whose=cell.whose, why="").verdict
    near = abs(ours - figure) <= cell.tolerance * (1.0 + 1e-9)
    return "reproduced" if near else "different"


def test_stored_verdicts_follow_from_the_tolerance_and_that_from_the_print():
    for name, cell in stored().cells():
        if cell.verdict not in ("reproduced", "better", "different") or cell.tolerance is None:
            continue
        expected = judged(cell)
        assert cell.verdict == expected or (cell.verdict, expected) == ("better", "different")
        # Figures of he-3.2 with a Schatten criterion are squares of figures with two decimals.
        if name != "he-3.2" and not cell.where.endswith("p value"):
            allowed = max(last_unit(cell.printed), random_tolerance(cell.printed))
            assert cell.tolerance <= allowed * (1.0 + 1e-9), (name, cell.where)


def test_only_methods_of_the_documents_are_better():
    cells = [cell for _, cell in stored().cells()]
    assert all(cell.whose == "method" for cell in cells if cell.verdict == "better")
    assert all(is_honest(cell.why) for cell in cells if cell.verdict == "different")


def test_numbered_tables_stand_in_the_order_of_their_numbers():
    def number(name: str) -> list[int]:
        return [int(part) for part in name.partition("-")[2].split(".")]

    plain = [t.name for t in list_tables() if t.name.partition("-")[2].replace(".", "").isdigit()]
    for a, b in pairwise(plain):
        if a.partition("-")[0] == b.partition("-")[0]:
            assert number(a) < number(b)
