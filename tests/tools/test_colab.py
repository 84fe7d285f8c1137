"""The reproduction of Colab reads its list, finds a Python, and notices forbidden changes."""

import pytest

from tools.colab import __main__ as command
from tools.colab import image
from utils.paths import DATA

LIST = max((DATA / "platforms").glob("colab_*.txt"))


def test_the_list_has_what_the_replay_installs():
    packages = image.versions_in(LIST)
    assert packages["ipywidgets"] == "7.7.1"
    assert {image.canonical(name) for name in image.WITH_DEPENDENCIES} <= set(packages)
    assert {image.canonical(name) for name in image.ALONE} <= set(packages)


def test_a_list_that_is_not_there_is_named(tmp_path):
    with pytest.raises(image.NoImage, match=r"There is no list .*none\.txt: give LIST"):
        image.versions_in(tmp_path / "none.txt")


def test_a_python_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    with pytest.raises(image.NoImage, match=r"there is no Python 3\.13"):
        image.interpreter("3.13")


@pytest.mark.parametrize("needed, code", [("1", 2), ("", 0)])
def test_without_that_python_it_fails_only_where_everything_is_needed(
    tmp_path, monkeypatch, capsys, needed, code
):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv(command.NEEDED, needed)
    monkeypatch.setattr(command, "BUILD", tmp_path)
    monkeypatch.setattr("sys.argv", ["colab"])
    assert command.main() == code
    assert capsys.readouterr().err.startswith("Colab is not replayed: ")


@pytest.mark.parametrize("name, forbidden", [("numba", False), ("numpy", True), ("ipython", True)])
def test_a_change_is_printed_and_one_of_numpy_fails(tmp_path, monkeypatch, capsys, name, forbidden):
    packages = {tmp_path / "old": {name: "1.0"}, tmp_path / "new": {name: "2.0"}}
    monkeypatch.setattr(command, "packages_of", packages.get)
    assert command.changes(tmp_path / "old", tmp_path / "new", "Here") is forbidden
    assert f"  {name}: 1.0 -> 2.0" in capsys.readouterr().out


def test_a_second_environment_shares_files_and_changes_alone(tmp_path):
    (tmp_path / "first").mkdir()
    (tmp_path / "first" / "a").write_text("one")
    second = image.hard_link_copy(tmp_path / "first", tmp_path / "second")
    (second / "a").unlink()
    (second / "a").write_text("two")  # as pip replaces files
    assert (tmp_path / "first" / "a").read_text() == "one"
