"""The published pictures can be drawn; what they show is tested with their tables."""

from __future__ import annotations

import pytest

from reproduction import figures
from reproduction.data import Data


@pytest.mark.parametrize("name", ["8.2-line", "4.3-crossing-lines", "5.1-directions"])
def test_a_picture_without_data(name, tmp_path):
    (path,) = figures.draw(Data(tmp_path), tmp_path, [name])
    assert path.name == f"{name}.png" and path.stat().st_size > 10_000


def test_pictures_of_missing_data_are_left_out(tmp_path):
    said = []
    assert list(figures.draw(Data(tmp_path), tmp_path, ["4.5-faces"], said.append)) == []
    assert "yale" in said[0]


def test_a_wrong_name_is_refused(capsys):
    with pytest.raises(SystemExit):
        figures.main(["4.9"])
    assert "unknown figure 4.9" in capsys.readouterr().err
