"""Replacements for the parts of nbgrader that read and execute submissions."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbformat.v4 import new_notebook
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Unicode

from labs.grading.batch import grade_class
from labs.grading.feedback import NO_TEXT, without_texts
from labs.grading.grade import Mark, failure
from labs.grading.labs import Lab, all_labs, find
from labs.grading.private import secret_of
from labs.grading.submissions import Submission, Unreadable, pieces_of, submission_of
from labs.platforms.nbgrader.cells import graded_notebook
from utils.errors import CourseError


class ByText(NotebookExporter):
    """An exporter of nbgrader that grades all submissions by their text when it is created.

    nbgrader then reads empty notebooks instead of the submissions, because it would trust what it
    reads: a file without JSON would get no mark, and a wrong version in one student's metadata
    would stop the grading of the whole class.
    """

    secret_file = Unicode("", help="file with the secret of the class, or '' for COURSE_SECRET")
    secret_file.tag(config=True)

    def __init__(self, **options):
        """Grade all submissions of the assignment, which are the notebooks named after a lab.

        The attribute `notebooks` maps the path of each of them to its graded notebook. Raises
        NbGraderException if the marks cannot be given or written.
        """
        super().__init__(**options)
        known = all_labs()
        folders = [*self.parent.assignments.values()]
        files = [Path(file) for folder in folders for file in folder if Path(file).stem in known]
        try:
            secret = secret_of(Path(self.secret_file) if self.secret_file else None)
            results = Path(self.parent.coursedir.root)
            self.notebooks = dict(_graded(files, secret, results, self.log))
        except CourseError as error:
            self.log.error(str(error))
            raise NbGraderException(str(error)) from None

    def from_filename(self, filename, resources=None, **options):
        """Return (JSON text of the graded notebook, its resources), as nbconvert does.

        An empty notebook goes through nbgrader's preprocessors, and GradedByText replaces it by the
        graded notebook, which is found under the key "graded" of the resources. filename: not used.
        resources: names the student, the assignment and the notebook.
        """
        folders, own = self.parent.coursedir, resources["nbgrader"]
        folder = folders.format_path(folders.submitted_directory, own["student"], own["assignment"])
        resources["graded"] = self.notebooks[Path(folder, f"{own['notebook']}.ipynb")]
        return self.from_notebook_node(new_notebook(), resources, **options)


class GradedByText(NbGraderPreprocessor):
    """A preprocessor that replaces nbgrader's Execute and runs nothing of the student's code."""

    def preprocess(self, nb, resources):
        """Return (graded notebook from `resources`, resources); nothing is executed.

        nb: not used.
        """
        return resources["graded"], resources


def _graded(
    files: Sequence[Path], secret: str, results: Path, log
) -> Iterator[tuple[Path, NotebookNode]]:
    """Yield pairs of a file and its graded notebook; submissions of one lab are graded in parallel.

    One lab follows another, in the order of their names. The submissions of a lab come in the order
    in which they are graded. The progress is logged. secret: the class's secret, from which hidden
    shapes are drawn. results: the folder for the marks. Raises CourseError if marks cannot be
    written.
    """
    for lab in map(find, sorted({file.stem for file in files})):
        by_name = {str(file): file for file in files if file.stem == lab.name}
        submissions = {name: submission_of(name, file) for name, file in by_name.items()}
        marks = grade_class(lab, [*submissions.values()], secret, results, os.cpu_count() or 1)
        for number, mark in enumerate(marks, start=1):
            log.info("Graded by text: %d of %d, %s", number, len(submissions), mark.student)
            if mark.failed:
                log.error("%s: %s", mark.student, mark.failed)
            yield by_name[mark.student], _notebook(lab, submissions[mark.student], mark, log)


def _notebook(lab: Lab, submission: Submission, mark: Mark, log) -> NotebookNode:
    """Return the graded notebook; if its code cannot be shown, return one with only the points.

    Such an error is logged, and costs no points.
    """
    try:
        return graded_notebook(lab, _pieces(submission), mark)
    except Exception as error:
        log.error("%s: %s", mark.student, failure(error))
        return graded_notebook(lab, [], without_texts(mark, NO_TEXT))


def _pieces(submission: Submission) -> list[str]:
    """Return the Python texts of a submission as they were graded, one per cell or file.

    Files that cannot be read are left out.
    """
    pieces: list[str] = []
    for name, raw in submission.files:
        with contextlib.suppress(Unreadable):
            pieces += pieces_of(name, raw)
    return pieces
