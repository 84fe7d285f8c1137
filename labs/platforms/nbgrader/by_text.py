"""What takes the place of nbgrader's reading and running of submissions."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from nbconvert.exporters import NotebookExporter
from nbformat import NotebookNode
from nbformat.v4 import new_notebook
from nbgrader.converters.base import NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Unicode

from labs.grading.batch import graded
from labs.grading.labs import LABS, find
from labs.grading.private import secret_of
from labs.grading.reading import Submission, Unreadable, pieces_of, submission_of
from labs.platforms.nbgrader.cells import graded_notebook
from utils.errors import CourseError


class ByText(NotebookExporter):
    """Grades all that was handed in before nbgrader begins, and gives it none of the files to read.

    nbgrader would believe what it reads: a file without JSON would get no mark, and a wrong version
    in the metadata of one student would stop the whole class.
    """

    secret_file = Unicode("", help="file with the secret of the class, or '' for COURSE_SECRET")
    secret_file.tag(config=True)

    def __init__(self, **options):
        super().__init__(**options)
        folders = [*self.parent.assignments.values()]
        files = [Path(file) for folder in folders for file in folder if Path(file).stem in LABS]
        try:
            secret = secret_of(Path(self.secret_file) if self.secret_file else None)
            results = Path(self.parent.coursedir.root)
            self.notebooks = dict(_graded(files, secret, results, self.log))
        except CourseError as error:
            self.log.error(str(error))
            raise NbGraderException(str(error)) from None

    def from_filename(self, filename, resources=None, **options):
        """An empty notebook, and in `resources` the one that was graded."""
        folders, own = self.parent.coursedir, resources["nbgrader"]
        folder = folders.format_path(folders.submitted_directory, own["student"], own["assignment"])
        resources["graded"] = self.notebooks[Path(folder, f"{own['notebook']}.ipynb")]
        return self.from_notebook_node(new_notebook(), resources, **options)


class GradedByText(NbGraderPreprocessor):
    """Takes the place of Execute: nothing of the student's is run."""

    def preprocess(self, nb, resources):
        """The graded notebook in place of one that was run."""
        return resources["graded"], resources


def _graded(
    files: Sequence[Path], secret: str, results: Path, log
) -> Iterator[tuple[Path, NotebookNode]]:
    """Each file with its graded notebook; all of one lab in parallel. Raises CourseError."""
    for lab in map(find, sorted({file.stem for file in files})):
        by_name = {str(file): file for file in files if file.stem == lab.name}
        given = {name: submission_of(name, file) for name, file in by_name.items()}
        marks = graded(lab, [*given.values()], secret, results, os.cpu_count() or 1)
        for number, found in enumerate(marks, start=1):
            log.info("Graded by text: %d of %d, %s", number, len(given), found.student)
            pieces = _pieces(given[found.student])
            yield by_name[found.student], graded_notebook(lab, pieces, found)


def _pieces(submission: Submission) -> list[str]:
    """The code of a submission as it was graded; none where the marks say that it is unreadable."""
    try:
        return [piece for name, raw in submission.files for piece in pieces_of(name, raw)]
    except Unreadable:
        return []
