"""Reading and writing tables of numbers in the usual file formats."""

from columnist.io.atomic import atomic_path
from columnist.io.formats import FORMATS
from columnist.io.read import read_table
from columnist.io.table import DataFileError, Table
from columnist.io.write import write_table

__all__ = ["FORMATS", "DataFileError", "Table", "atomic_path", "read_table", "write_table"]
