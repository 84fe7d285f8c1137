"""Tests that the runner executes lessons and reports failures, and that lessons hold no outputs."""

import json
import re
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from utils.lessons import run_notebooks
from utils.lessons.first_cell import FOLDED, Repository, badge, first_cell, with_setup
from utils.lessons.run_notebooks import RunOptions
from utils.paths import NOTEBOOKS

KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def write_notebook(path, *sources):
    """Write a notebook with one cell of prose and these code cells, and return its path."""
    cells = [new_markdown_cell("# A lesson"), *map(new_code_cell, sources)]
    nbformat.write(new_notebook(cells=cells, metadata=KERNEL), path)
    return path


def untidy(notebook):
    """Return a sentence for each reason not to commit a notebook."""
    sentences = []
    if notebook.metadata.get("kernelspec", {}).get("name") != "python3":
        sentences.append("its kernel is not python3")
    for number, cell in enumerate(notebook.cells, start=1):
        if "id" not in cell:
            sentences.append(f"cell {number} has no id")
        if cell.cell_type == "code" and (cell.outputs or cell.execution_count):
            sentences.append(f"cell {number} holds outputs")
    return sentences


def test_a_lesson_becomes_a_page(tmp_path, capsys):
    notebook = write_notebook(tmp_path / "01_sum.ipynb", "print(6 * 7)")
    before = notebook.read_bytes()
    assert run_notebooks.main([str(notebook), "--out", str(tmp_path / "build")]) == 0
    page = (tmp_path / "build" / "01_sum.html").read_text(encoding="utf-8")
    assert "<pre>42" in page
    assert notebook.read_bytes() == before
    assert "1 of 1 lessons ran" in capsys.readouterr().out
    index = (tmp_path / "build" / "index.html").read_text(encoding="utf-8")
    assert '<a href="01_sum.html">A lesson</a>' in index


def test_a_failing_cell_is_shown_and_the_next_lesson_still_runs(tmp_path, capsys):
    broken = write_notebook(tmp_path / "01_broken.ipynb", "size = 0", "1 / size", "print('after')")
    sound = write_notebook(tmp_path / "02_sound.ipynb", "print('sound')")
    code = run_notebooks.main([str(broken), str(sound), "--out", str(tmp_path)])
    shown = capsys.readouterr().out
    assert code == 1
    assert "01_broken.ipynb, cell 3:\n\n    1 / size\n" in shown
    assert "ZeroDivisionError: division by zero" in shown
    assert "\x1b" not in shown
    assert "1 of 2 lessons ran" in shown
    assert "ZeroDivisionError" in (tmp_path / "01_broken.html").read_text(encoding="utf-8")
    assert (tmp_path / "02_sound.html").exists()


def test_what_ran_is_kept_with_its_outputs_and_what_failed_is_not(tmp_path):
    notebook = write_notebook(tmp_path / "01_sum.ipynb", "print(6 * 7)")
    executed = tmp_path / "build" / run_notebooks.EXECUTED / "01_sum.ipynb"
    assert run_notebooks.main([str(notebook), "--out", str(tmp_path / "build")]) == 0
    assert nbformat.read(executed, as_version=4).cells[1].outputs[0].text == "42\n"
    write_notebook(notebook, "1 / 0")
    assert run_notebooks.main([str(notebook), "--out", str(tmp_path / "build")]) == 1
    assert not executed.exists()


def test_a_cell_that_takes_too_long_is_shown(tmp_path, capsys):
    notebook = write_notebook(tmp_path / "slow.ipynb", "import time", "time.sleep(60)")
    code = run_notebooks.main([str(notebook), "--out", str(tmp_path), "--timeout", "1"])
    shown = capsys.readouterr().out
    assert code == 1
    assert "slow.ipynb, cell 3:\n\n    time.sleep(60)\n" in shown
    assert "A cell timed out while it was being executed, after 1 seconds." in shown


def test_a_kernel_that_dies_is_shown(tmp_path):
    notebook = write_notebook(tmp_path / "dies.ipynb", "import os; os._exit(1)")
    failure = run_notebooks.run(notebook, tmp_path, RunOptions(60)).failure
    assert failure == "dies.ipynb, cell 2:\n\n    import os; os._exit(1)\n\nKernel died"


def test_a_lesson_runs_on_this_interpreter_in_its_own_folder(tmp_path):
    (tmp_path / "beside.txt").write_text("found", encoding="utf-8")
    sources = (
        f"import sys; assert sys.executable == {sys.executable!r}",
        "assert open('beside.txt').read() == 'found'",
        "import matplotlib; assert 'inline' in matplotlib.get_backend()",
    )
    notebook = write_notebook(tmp_path / "where.ipynb", *sources)
    assert run_notebooks.run(notebook, tmp_path, RunOptions(60)).failure is None


def test_a_lesson_runs_in_the_kernel_of_another_environment(tmp_path):
    kernel = tmp_path / "kernels" / "python3"
    kernel.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "Other", "language": "python", "env": {"OTHER": "1"}}
    (kernel / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    notebook = write_notebook(tmp_path / "a.ipynb", "import os; assert os.environ['OTHER'] == '1'")
    run = run_notebooks.run(notebook, tmp_path, RunOptions(60, kernels=kernel.parent))
    assert run.failure is None


@pytest.mark.parametrize("name, language", [("01_sum.de", "de"), ("01_sum", "en")])
def test_a_lesson_runs_in_the_language_of_its_name(tmp_path, monkeypatch, name, language):
    monkeypatch.setenv("COURSE_LANGUAGE", "ja")
    code = f"import os; assert os.environ['COURSE_LANGUAGE'] == {language!r}"
    notebook = write_notebook(tmp_path / f"{name}.ipynb", code)
    assert run_notebooks.run(notebook, tmp_path, RunOptions(60)).failure is None


def test_a_notebook_that_does_not_exist_is_named(tmp_path, capsys):
    assert run_notebooks.main([str(tmp_path / "99_missing.ipynb")]) == 2
    assert "99_missing.ipynb" in capsys.readouterr().err


def test_outputs_and_foreign_kernels_are_noticed():
    cell = new_code_cell("1", execution_count=1, outputs=[new_output("stream", text="1")])
    notebook = new_notebook(cells=[cell], metadata={})
    del cell["id"]
    assert untidy(notebook) == [
        "its kernel is not python3",
        "cell 1 has no id",
        "cell 1 holds outputs",
    ]


@pytest.mark.parametrize("name", sorted(path.name for path in NOTEBOOKS.glob("*.ipynb")))
def test_a_lesson_is_valid_and_holds_no_outputs(name):
    notebook = nbformat.read(NOTEBOOKS / name, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    assert untidy(notebook) == []


def test_a_page_asks_no_other_host_and_follows_the_readers_theme(tmp_path):
    notebook = write_notebook(tmp_path / "01_sum.ipynb", "print(6 * 7)")
    page = run_notebooks.run(notebook, tmp_path, RunOptions(60)).page.read_text(encoding="utf-8")
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', page)
    assert '<style media="(prefers-color-scheme: dark)">' in page


def test_a_fold_keeps_its_markdown(tmp_path):
    notebook = write_notebook(tmp_path / "01_sum.ipynb", "print(6 * 7)")
    lesson = nbformat.read(notebook, as_version=4)
    fold = "<details><summary>More</summary>\n\nIt is *hidden*.\n\n</details>"
    lesson.cells.append(new_markdown_cell(fold))
    nbformat.write(lesson, notebook)
    page = run_notebooks.run(notebook, tmp_path, RunOptions(60)).page.read_text(encoding="utf-8")
    assert "<em>hidden</em>" in re.search(r"<details>.*?</details>", page, re.DOTALL)[0]


def test_a_page_has_neither_badge_nor_setup_cell(tmp_path):
    notebook = write_notebook(tmp_path / "01_sum.ipynb", "print(6 * 7)")
    lesson = nbformat.read(notebook, as_version=4)
    opens = badge(notebook.name, Repository("https://github.com/somebody/course", "main"))
    lesson.cells.insert(0, new_markdown_cell(with_setup("# A lesson\n\nAnd more.", opens)))
    code = next(cell for cell in lesson.cells if "6 * 7" in cell.source)
    code.metadata.update(FOLDED)
    nbformat.write(lesson, notebook)
    page = run_notebooks.run(notebook, tmp_path, RunOptions(60)).page.read_text(encoding="utf-8")
    assert "And more." in page
    assert "42" in page
    for left_out in ("Open in Colab", "finds the course", "print"):
        assert left_out not in page.partition("<main>")[2]


def test_pages_link_each_other_and_the_glossary(tmp_path):
    notebook = write_notebook(tmp_path / "01_sum.ipynb")
    text = "See [two](02_two.ipynb#there), [words](glossary.md), [all](https://example.org/a.md)."
    lesson = nbformat.read(notebook, as_version=4)
    lesson.cells.append(new_markdown_cell(text))
    nbformat.write(lesson, notebook)
    (tmp_path / "glossary.md").write_text("# Words", encoding="utf-8")
    out = tmp_path / "build"
    other = write_notebook(tmp_path / "02_two.ipynb")
    assert run_notebooks.main([str(notebook), str(other), "--out", str(out)]) == 0
    page = (out / "01_sum.html").read_text(encoding="utf-8")
    for target in ("02_two.html#there", "glossary.html", "https://example.org/a.md"):
        assert f'href="{target}"' in page
    assert "Words" in (out / "glossary.html").read_text(encoding="utf-8")


def test_a_page_links_no_page_that_is_not_there(tmp_path):
    notebook = write_notebook(tmp_path / "01_sum.ipynb")
    lesson = nbformat.read(notebook, as_version=4)
    text = "See [two](02_two.ipynb), *[three](03_three.ipynb#there)* and [itself](01_sum.ipynb)."
    lesson.cells.append(new_markdown_cell(text))
    nbformat.write(lesson, notebook)
    out = tmp_path / "build"
    assert run_notebooks.main([str(notebook), "--out", str(out)]) == 0
    page = (out / "01_sum.html").read_text(encoding="utf-8")
    assert 'See two, <em>three</em> and <a href="01_sum.html">itself</a>.' in page


def test_the_index_looks_like_a_page_and_has_the_titles_of_the_lessons(tmp_path):
    notebook = write_notebook(tmp_path / "01_sum.ipynb")
    lesson = nbformat.read(notebook, as_version=4)
    lesson.cells[0].source = "# 01 · A <sum> of *x_y*\n\nWords."
    nbformat.write(lesson, notebook)
    assert run_notebooks.main([str(notebook), "--out", str(tmp_path)]) == 0
    page, index = (
        (tmp_path / name).read_text(encoding="utf-8") for name in ("01_sum.html", "index.html")
    )
    styles = re.compile(r"<style.*?</style>", re.DOTALL)
    assert styles.findall(index) == styles.findall(page) != []
    assert '<a href="01_sum.html">01 · A &lt;sum&gt; of *x_y*</a>' in index
    assert "<title>The lessons</title>" in index


def test_the_compiler_can_be_hidden(tmp_path):
    code = "from numba.cuda.cudadrv import nvvm; assert nvvm.is_available() is False"
    notebook = write_notebook(tmp_path / "01_sum.ipynb", code)
    assert run_notebooks.run(notebook, tmp_path, RunOptions(60, compiler=False)).failure is None


def test_a_lesson_that_shows_what_it_should_not_has_failed(tmp_path):
    shown = 'from IPython.display import HTML\nHTML("<img src=\'data:,\'>")'
    notebook = write_notebook(tmp_path / "00_a.ipynb", first_cell("00"), shown)
    failure = run_notebooks.run(notebook, tmp_path, RunOptions(60)).failure
    assert failure.startswith("00_a.ipynb:\ncell 3 shows a picture without words")
