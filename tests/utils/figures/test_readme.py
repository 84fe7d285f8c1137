"""The README's table comes from the records, and its links lead somewhere."""

import re

from utils.figures import virtual_gpu_readme
from utils.figures.readme import ON_CPU, ON_GPU, README, results, with_results
from utils.measuring import records


def test_the_table_is_the_one_that_the_records_give():
    text = README.read_text(encoding="utf-8")
    assert with_results(text) == text, "run python -m utils.figures.readme"


def test_what_the_virtual_gpus_readme_says_of_exactness_is_what_the_records_give():
    text = virtual_gpu_readme.README.read_text(encoding="utf-8")
    anew = with_results(text, virtual_gpu_readme.SECTIONS)
    assert anew == text, "run python -m utils.figures.readme"


def test_the_table_has_every_recorded_step():
    steps = {
        step
        for ladder, _, _ in (*ON_GPU, *ON_CPU)
        for device in records.recorded_devices(ladder)
        for step in records.measured(device, ladder)["step"]
    }
    assert steps
    assert all(f"`{step}`" in results() for step in steps)


def test_every_link_of_the_readme_leads_to_a_file():
    targets = re.findall(r"\]\(([^)]+)\)", README.read_text(encoding="utf-8"))
    assert targets
    assert all((README.parent / target).exists() for target in targets)
