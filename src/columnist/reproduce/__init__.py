"""Run the printed tables and figures of the documents again, and compare cell by cell."""
