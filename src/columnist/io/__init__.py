"""Reading and writing tables of numbers in the usual file formats."""

from columnist.io._inputs import FORMATS
from columnist.io._read import read_table
from columnist.io._table import DataFileError, Table
from columnist.io._write import atomic_path, write_table

__all__ = ["FORMATS", "DataFileError", "Table", "atomic_path", "read_table", "write_table"]
