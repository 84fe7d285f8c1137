"""The README's table comes from the records, and its links lead somewhere."""

import re

from utils.figures import plots, virtual_gpu_readme
from utils.figures.readme import (
    FIGURES,
    GROUNDS,
    ON_CPU,
    ON_GPU,
    README,
    figures,
    results,
    with_results,
)
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
    text = README.read_text(encoding="utf-8")
    targets = re.findall(r'\]\(([^)]+)\)|src(?:set)?="([^"]+)"', text)
    targets = [link or picture for link, picture in targets]
    assert sum(target.endswith(".svg") for target in targets) == 2 * len(figures())
    assert all((README.parent / target).exists() for target in targets)


def test_the_pictures_show_the_records_on_light_and_on_dark_ground(tmp_path):
    for name, figure in figures().items():
        for ground in GROUNDS:
            file = f"{name}_{ground}.svg"
            plots.save(figure, tmp_path / file, ground)
            anew = (tmp_path / file).read_text(encoding="utf-8")
            kept = (FIGURES / file).read_text(encoding="utf-8")
            assert _words(anew) == _words(kept), "run python -m utils.figures.readme"


def _words(svg):
    """What a picture says; how wide the letters are depends on the machine that drew it."""
    return re.findall(r'aria-label="[^"]*"|<text[^>]*>([^<]*)', svg)
