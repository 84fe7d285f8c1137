"""The hub's configuration before a hub starts; these tests need no JupyterHub."""

import pytest
from traitlets.config import PyFileConfigLoader

from tests.hub.running import CONFIG, variables
from utils.paths import ROOT


@pytest.fixture
def started(tmp_path, monkeypatch):
    """Return a function that loads the configuration for a class in tmp_path.

    Its keyword arguments change environment variables.
    """
    course = tmp_path / "course"
    course.mkdir()
    (course / "nbgrader_config.py").touch()

    def read(**changes):
        for name, value in (variables(tmp_path, 20_000) | changes).items():
            monkeypatch.setenv(name, value)
        return PyFileConfigLoader(str(CONFIG)).load_config()

    return read


@pytest.mark.parametrize(
    "name", ["CLASS", "STUDENTS", "INSTRUCTORS", "PASSWORD", "INSTRUCTOR_PASSWORD"]
)
def test_a_variable_that_is_missing_is_named_in_one_sentence(started, name):
    with pytest.raises(SystemExit, match=f"^COURSE_{name} is not set: give "):
        started(**{f"COURSE_{name}": " "})


def test_a_class_within_the_course_is_refused(started):
    with pytest.raises(SystemExit, match="in the course: give a folder outside of it"):
        started(COURSE_CLASS=str(ROOT / "build" / "class"))


def test_a_class_without_a_course_is_refused(started, tmp_path):
    with pytest.raises(SystemExit, match="holds no course: make it first"):
        started(COURSE_CLASS=str(tmp_path / "other"))


def test_a_port_that_is_no_number_is_refused(started):
    with pytest.raises(SystemExit, match="COURSE_PORT is '80a'"):
        started(COURSE_PORT="80a")


def test_it_says_whom_it_is_for_where_it_starts_and_on_the_pages(started, capsys):
    read = started()
    assert "Only for one machine" in capsys.readouterr().err
    assert "users who trust each other" in read.JupyterHub.template_vars["announcement"]


def test_everything_listens_on_this_machine_alone(started):
    read = started()
    listening = (
        read.JupyterHub.bind_url, read.JupyterHub.hub_bind_url,
        read.ConfigurableHTTPProxy.api_url, read.JupyterHub.services[0]["url"],
    )  # fmt: skip
    assert [one.rsplit(":", 1)[0] for one in listening] == ["http://127.0.0.1"] * 4
    assert len(set(listening)) == 4


def test_folders_of_the_class_are_closed_to_other_users(started, tmp_path):
    started()
    assert {(tmp_path / name).stat().st_mode & 0o77 for name in ("homes", "hub")} == {0}


def test_a_lesson_that_a_student_changed_stays_as_it_is(started, tmp_path):
    class Spawner:
        home_dir = str(tmp_path / "homes" / "ada")

    give = started().Spawner.pre_spawn_hook
    give(Spawner)
    lessons = tmp_path / "homes" / "ada" / "lessons"
    names = {file.name for file in (ROOT / "notebooks").glob("*.ipynb")}
    assert {file.name for file in lessons.iterdir()} == names
    (lessons / "00_start_here.ipynb").write_text("mine")
    (lessons / "07_tiling.ipynb").unlink()
    give(Spawner)
    assert (lessons / "00_start_here.ipynb").read_text() == "mine"
    assert (lessons / "07_tiling.ipynb").exists()
