"""A class on JupyterHub as its people use it: a real hub, its proxy and a browser.

`make check-hub` runs these tests in a separate environment.
"""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.hub.people import (
    assignments,
    enter,
    log_in,
    open_notebook,
    run_all,
    saved_when_run,
    write,
)
from tests.hub.running import INSTRUCTOR, MISSING, PASSWORD, STUDENTS, processes_of, running
from utils.paths import ROOT

pytest.importorskip("jupyterhub", reason=MISSING)
pytestmark = pytest.mark.usefixtures("proxy")

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
LAB, TASK = "first_kernel", "scale"
LESSON = "07_tiling.ipynb"
GRADE_BOOK = "/services/grades/formgrader"


def make_class(folder: Path) -> Path:
    """Make the class as the guide's commands do before the hub starts; return its folder."""
    course, exchange = folder / "course", folder / "exchange"
    exchange.mkdir()
    for command, here in (
        (["labs", "assignment", LAB, "--out", course, "--exchange", exchange], ROOT),
        (["nbgrader", "generate_assignment", LAB], course),
        (["nbgrader", "release_assignment", LAB], course),
    ):
        subprocess.run([sys.executable, "-m", *command], cwd=here, check=True, timeout=180)
    return folder


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    with running(make_class(tmp_path_factory.mktemp("class"))) as started:
        yield started


def test_two_students_run_a_lesson_to_its_end_at_the_same_time(hub, browser):
    pages = {name: enter(browser, hub, name) for name in STUDENTS}
    for page in pages.values():
        open_notebook(page, hub, f"lessons/{LESSON}")
        run_all(page)
    for name, page in pages.items():
        code = saved_when_run(page, hub.folder / "homes" / name / "lessons" / LESSON)
        assert [cell["id"] for cell in code if not cell["execution_count"]] == []
        assert errors(code) == []


def errors(code: list[dict]) -> list[str]:
    every = (output for cell in code for output in cell["outputs"])
    return [output["ename"] for output in every if output["output_type"] == "error"]


def test_a_cell_that_fails_would_be_seen(hub, browser):
    page = enter(browser, hub, "ada")
    file = hub.folder / "homes" / "ada" / "lessons" / "fails.ipynb"
    cells = [new_code_cell("1 / 0"), new_code_cell("2")]
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": KERNEL}), file)
    open_notebook(page, hub, f"lessons/{file.name}")
    run_all(page)
    assert errors(saved_when_run(page, file)) == ["ZeroDivisionError"]


def test_what_students_hand_in_is_graded_by_its_text_in_the_grade_book(hub, browser):
    right = ROOT / "labs" / "exercises" / TASK / "solution.py"
    for name, text in zip(STUDENTS, (right.read_text(encoding="utf-8"), "1 / 0"), strict=True):
        page = enter(browser, hub, name)
        assignments(page).get_by_text("Fetch", exact=True).click()
        assignments(page).get_by_text("Submit", exact=True).wait_for()
        open_notebook(page, hub, f"{LAB}/{LAB}.ipynb")
        write(page, hub.folder / "homes" / name / LAB / f"{LAB}.ipynb", TASK, text)
        assignments(page).get_by_text("Submit", exact=True).click()
        assignments(page).get_by_text("Fetch Feedback").wait_for()
    page = log_in(browser, hub, INSTRUCTOR, then=GRADE_BOOK)
    assert collected_and_graded(page, hub) == {"ada": "100 / 100", "grace": "0 / 100"}


def collected_and_graded(page, hub) -> dict[str, str]:
    """Press all the instructor's buttons; return each student's score in the grade book."""
    page.locator(".collect a").click()
    close_dialog(page)
    page.goto(f"{hub.address}{GRADE_BOOK}/manage_submissions/{LAB}")
    for student in STUDENTS:
        row = page.locator("tr", has_text=student)
        row.locator(".autograde a").click()
        close_dialog(page)
    rows = {student: page.locator("tr", has_text=student) for student in STUDENTS}
    return {student: row.locator(".score").inner_text() for student, row in rows.items()}


def close_dialog(page) -> None:
    """Close the dialog that reports an action; fail if it reports an error."""
    dialog = page.locator(".modal.in")
    dialog.wait_for()
    assert dialog.locator(".modal-title").inner_text() == "Success", dialog.inner_text()
    dialog.get_by_text("OK", exact=True).click()
    dialog.wait_for(state="hidden")


def test_a_student_reaches_her_own_server_and_no_grade_book(hub, browser):
    enter(browser, hub, "grace")  # her server runs
    page = enter(browser, hub, "ada")
    expected = {
        "/user/ada/lab": 200,
        "/user/ada/formgrader": 404,
        "/user/grace/lab": 403,
        GRADE_BOOK: 403,
        "/services/grades/api/contents/submitted": 403,
    }
    assert {path: page.goto(f"{hub.address}{path}").status for path in expected} == expected


@pytest.mark.parametrize(
    "name, password",
    [("ada", "wrong, and long"), (INSTRUCTOR, PASSWORD), ("mallory", PASSWORD)],
    ids=["a wrong password", "the instructor's name", "a name of nobody"],
)
def test_who_does_not_belong_to_the_class_is_refused(hub, browser, name, password):
    page = log_in(browser, hub, name, password=password)
    page.locator(".login_error").wait_for()


@pytest.fixture
def empty_class(tmp_path):
    """Return the folder of a class whose course has no assignments yet."""
    config = tmp_path / "course" / "nbgrader_config.py"
    config.parent.mkdir()
    config.write_text("c = get_config()\nc.CourseDirectory.course_id = 'course'\n")
    return tmp_path


def test_with_the_hub_every_server_and_kernel_ends(empty_class, browser):
    with running(empty_class) as hub:
        open_notebook(enter(browser, hub, "ada"), hub, "lessons/00_start_here.ipynb")
        assert any("ipykernel_launcher" in one.info["cmdline"] for one in processes_of(empty_class))
    assert hub.left == []


def test_nothing_is_left_of_a_hub_that_was_killed_and_of_a_test_that_failed(empty_class):
    with pytest.raises(ZeroDivisionError):
        kill_and_fail(empty_class)
    assert processes_of(empty_class) == []


def kill_and_fail(folder: Path) -> None:
    with running(folder) as hub:
        hub.process.kill()
        hub.process.wait(10)
        assert processes_of(folder) != []  # the proxy and the grade book
        raise ZeroDivisionError
