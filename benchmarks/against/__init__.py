"""Columnist beside other programs: same data, one run, one table per area."""
