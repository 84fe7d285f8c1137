"""Actions of people in their browsers: log in, open a notebook, run it and hand it in."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.hub.running import INSTRUCTOR, INSTRUCTOR_PASSWORD, PASSWORD, Hub

ONE_STEP = 60_000  # milliseconds that a page may take
ONE_LESSON = 240  # seconds
OPEN = ".jp-NotebookPanel:not(.lm-mod-hidden)"


def log_in(browser, hub: Hub, name: str, password: str = "", then: str = "/hub/home"):
    """Return the page that the hub shows after somebody gave a name and a password."""
    page = browser.new_page(width=1280)
    page.set_default_timeout(ONE_STEP)
    page.goto(f"{hub.address}/hub/login?next={then}")
    page.fill("#username_input", name)
    page.fill("#password_input", password or password_of(name))
    page.click("#login_submit")
    return page


def password_of(name: str) -> str:
    return INSTRUCTOR_PASSWORD if name == INSTRUCTOR else PASSWORD


def enter(browser, hub: Hub, name: str):
    """Return a page in which this person's JupyterLab shows the first lesson."""
    page = log_in(browser, hub, name, then="/hub/spawn")
    page.locator(".jp-mod-current", has_text="00_start_here.ipynb").first.wait_for()
    page.locator(f"{OPEN} .jp-Cell").first.wait_for()
    return page


def open_notebook(page, hub: Hub, path: str) -> None:
    """Open a notebook by the link that a page may give to everybody.

    path: relative to the person's home folder.
    """
    page.goto(f"{hub.address}/hub/user-redirect/lab/tree/{path}")
    page.locator(".jp-mod-current", has_text=Path(path).name).first.wait_for()
    page.locator(f"{OPEN} .jp-Cell").first.wait_for()
    wait_for_kernel(page, path)


def wait_for_kernel(page, path: str) -> None:
    """Wait until this notebook's kernel is idle, because a starting kernel loses requests."""
    sessions = page.url.split("/lab/")[0] + "/api/sessions"
    end = time.monotonic() + ONE_STEP / 1000
    while time.monotonic() < end:
        current = page.request.get(sessions).json()
        if (path, "idle") in [(one["path"], one["kernel"]["execution_state"]) for one in current]:
            return
        page.wait_for_timeout(500)
    raise TimeoutError(f"The kernel of {path} did not start.")


def run_all(page) -> None:
    page.get_by_text("Run", exact=True).first.click()
    page.locator("[data-command='runmenu:run-all']").click()


def saved_when_run(page, file: Path) -> list[dict]:
    """Return a notebook's code cells, saved after its last cell ran or one failed."""
    return saved(page, file, lambda code: code[-1]["execution_count"] or any(map(failed, code)))


def saved(page, file: Path, until: Callable[[list[dict]], bool]) -> list[dict]:
    """Save the open notebook until its code cells satisfy a condition; return them."""
    end = time.monotonic() + ONE_LESSON
    while time.monotonic() < end:
        page.keyboard.press("Control+s")
        page.wait_for_timeout(1000)
        with suppress(json.JSONDecodeError):  # it is being written
            cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
            code = [cell for cell in cells if cell["cell_type"] == "code"]
            if until(code):
                return code
    raise TimeoutError(f"{file.name} did not come to be as asked in {ONE_LESSON} s.")


def failed(cell: dict) -> bool:
    return any(output["output_type"] == "error" for output in cell["outputs"])


def write(page, file: Path, function: str, text: str) -> None:
    """Replace the cell that defines a function in the open notebook, and save."""
    cell = page.locator(f"{OPEN} .jp-CodeCell", has_text=f"def {function}(").first
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)
    saved(page, file, lambda code: any("".join(one["source"]) == text for one in code))


def assignments(page):
    """Open nbgrader's list of assignments from JupyterLab's menu."""
    page.get_by_text("Nbgrader", exact=True).first.click()
    page.get_by_text("Assignment List", exact=True).click()
    return page.locator("#nbgrader-assignment-list")
