"""Each example of the x-ray's README prints the text below it."""

import contextlib
import io
import re
import runpy

import pytest

from utils.paths import ROOT

README = (ROOT / "gpu_xray" / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```\n", README, re.DOTALL)


def test_every_example_is_followed_by_its_output():
    assert len(EXAMPLES) == README.count("```python") > 0


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("code, printed", EXAMPLES)
def test_an_example_prints_the_text_below_it(code, printed, tmp_path):
    file = tmp_path / "example.py"
    file.write_text(code, encoding="utf-8")
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        runpy.run_path(str(file))
    assert output.getvalue() == printed
