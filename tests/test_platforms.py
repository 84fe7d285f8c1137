"""Binder, the dev container and the citation follow the pins, and pages name what exists."""

import importlib.util
import json
import re
import tomllib

import pytest
from packaging.specifiers import SpecifierSet

from utils.paths import ROOT

PAGES = ("README.md", "CONTRIBUTING.md", "PLATFORMS.md", "data/README.md")
LONGEST = 160  # lines of the README, which shows a call of each function


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


PROJECT = tomllib.loads(read("pyproject.toml"))["project"]


def binder():
    """Return the lines of Binder's requirements without comments."""
    lines = read(".binder/requirements.txt").splitlines()
    return [line for line in lines if not line.startswith("#")]


def targets_of(text):
    """Return each `make TARGET` of a page."""
    return set(re.findall(r"(?:`|^)make ([a-z][a-z-]*)", text, re.MULTILINE))


def modules_of(text):
    """Return each of our modules that a page runs by `python -m MODULE`."""
    names = set(re.findall(r"python -m ([\w.]+)", text))
    return {name for name in names if (ROOT / name.split(".")[0]).is_dir()}


def test_binder_installs_the_course_and_the_compiler_under_the_pins():
    under, course = binder()
    option, file = under.split()
    assert option == "--constraint"
    assert (ROOT / ".binder" / file).resolve() == ROOT / "constraints.txt"
    assert course == "--editable .[compiler]"
    assert "compiler" in PROJECT["optional-dependencies"]


def test_binder_and_the_dev_container_have_a_python_that_the_course_takes():
    container = json.loads(read(".devcontainer/devcontainer.json"))
    for version in (
        re.fullmatch(r"python-(\d+\.\d+)\n", read(".binder/runtime.txt"))[1],
        re.fullmatch(r"python:(\d+\.\d+)-\w+", container["image"])[1],
    ):
        assert version in SpecifierSet(PROJECT["requires-python"])


def test_the_dev_container_is_made_by_make_without_gpu_packages():
    container = json.loads(read(".devcontainer/devcontainer.json"))
    assert container["postCreateCommand"] == "make setup CUDA=none"
    assert re.search(r"^setup:", read("Makefile"), re.MULTILINE)


def test_no_version_stands_beside_the_pins():
    for name in (".binder/requirements.txt", ".devcontainer/devcontainer.json"):
        assert not re.search(r"[=<>~]=|@", read(name))


def test_the_citation_has_the_version_and_the_licence_of_the_project_and_no_person():
    cited = dict(re.findall(r"^([\w-]+): (.+)$", read("CITATION.cff"), re.MULTILINE))
    assert cited["cff-version"] == "1.2.0"
    assert (cited["version"], cited["license"]) == (PROJECT["version"], PROJECT["license"])
    assert f"authors:\n  - name: {PROJECT['name']}\nversion" in read("CITATION.cff")


def test_the_readme_is_short():
    assert len(read("README.md").splitlines()) < LONGEST


def test_what_the_readme_says_of_a_new_step_is_what_the_recipe_says():
    steps = re.search(r"^## Add a step\n\n(.*?)\n\n", read("README.md"), re.M | re.S)[1]
    rung = r"^## A rung of a ladder\n(.*?)^## "
    recipe = re.search(rung, read("CONTRIBUTING.md"), re.M | re.S)[1]
    assert len(steps.splitlines()) == 5
    matches = re.findall(r"`([\w./ -]+)`|(at most \d+ lines of code)", steps)
    words = {code or most for code, most in matches} - {"make test"}
    assert len(words) > 8
    assert {each for each in words if each not in recipe} == set()


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_targets_and_modules_that_exist(page):
    known = re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE)
    assert targets_of(read(page)) - set(known) == set()
    modules = modules_of(read(page))
    assert {name for name in modules if importlib.util.find_spec(name) is None} == set()


def test_a_target_and_a_module_that_do_not_exist_would_be_found():
    text = "`make nothing`, then `python -m utils.nothing`:\n\n```\nmake it\n```"
    assert targets_of(text) == {"nothing", "it"}
    assert modules_of(text) == {"utils.nothing"}
