"""The pins of the three environment files agree, and the CUDA packages suit the driver."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from utils.machine import setup_environment
from utils.paths import ROOT

PINNED_TOOLKIT = (13, 4)
FOLLOWS_THE_DRIVER = "cuda-toolkit[cublas]==12.*"  # limited by its version instead of pinned
# conda has one CuPy for every CUDA, and brings the tools that show machine code with numba-cuda.
ONLY_PIP = {"cuda-toolkit", "cupy-cuda12x", "cupy-cuda13x"}
ONLY_PIP |= {"nvidia-cuda-cuobjdump", "nvidia-cuda-nvdisasm"}
ONLY_PIP |= {"playwright"}  # another name there; its tests are skipped without it
ONLY_PIP |= {"numba-cuda-mlir"}  # the second compiler, which the conda environment leaves out


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def requirements():
    """Return all requirements of pyproject.toml, base and extras, as (name, Requirement)."""
    project = tomllib.loads(read("pyproject.toml"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    requirements = [Requirement(line) for group in groups for line in group]
    others = [r for r in requirements if r.name != project["name"] and str(r) != FOLLOWS_THE_DRIVER]
    return [(canonicalize_name(r.name), r) for r in others]


def pins():
    lines = read("constraints.txt").splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def conda_pins():
    """Return name -> version of environment.yml, the commented GPU packages included."""
    pins = re.findall(r"^  (?:# )?- ([\w-]+)=([\d.]+)$", read("environment.yml"), re.MULTILINE)
    return dict(pins)


def applied(driver, platform="linux"):
    """Return the plan for a driver and the constraint lines that it leaves."""
    plan = setup_environment.plan(driver, PINNED_TOOLKIT, platform)
    return plan, setup_environment.limited(read("constraints.txt"), plan.limits).splitlines()


@pytest.mark.parametrize("name,requirement", requirements(), ids=str)
def test_every_requirement_has_a_pin_that_satisfies_it(name, requirement):
    assert requirement.specifier.contains(pins()[name])


@pytest.mark.parametrize("name", sorted({name for name, _ in requirements()} - ONLY_PIP))
def test_conda_and_pip_install_the_same_version(name):
    assert conda_pins()[name] == pins()[name]


def test_conda_installs_nothing_that_pip_does_not():
    assert set(conda_pins()) - {name for name, _ in requirements()} == {"cupy"}


def test_conda_and_pip_install_the_same_cupy():
    assert conda_pins()["cupy"] == pins()["cupy-cuda12x"] == pins()["cupy-cuda13x"]


def test_the_conda_environment_installs_the_course_itself():
    assert read("environment.yml").endswith("  - pip:\n      - --editable .\n")


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt", "environment.yml"])
def test_packages_are_named_without_addresses_or_paths(name):
    assert not re.search(r"://|file:| @ |--(extra-)?index", read(name))


def test_constraints_are_exact_versions():
    lines = [line for line in read("constraints.txt").splitlines() if not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"(?:[a-z0-9-]+==[\w.]+)?", line)] == []


def test_the_toolkit_is_of_one_release():
    toolkit = ["cuda-toolkit", "nvidia-nvvm", "nvidia-cuda-nvrtc", "nvidia-nvjitlink"]
    tools = ["nvidia-cuda-nvdisasm", "nvidia-cuda-cuobjdump"]
    assert {pins()[name].rsplit(".", 1)[0] for name in toolkit + tools} == {"13.4"}
    assert setup_environment.pinned_toolkit(read("constraints.txt")) == PINNED_TOOLKIT


def test_without_a_driver_the_compiler_is_installed_and_no_pin_changes():
    plan, lines = applied(None)
    assert plan.extra == "compiler"
    assert lines == read("constraints.txt").splitlines()


@pytest.mark.parametrize("driver", [(13, 4), (13, 9), (14, 0)])
def test_a_driver_as_new_as_the_toolkit_gets_the_pins(driver):
    plan, lines = applied(driver)
    assert plan.extra == "gpu-cu13"
    assert lines == read("constraints.txt").splitlines()


def test_an_older_driver_gets_a_toolkit_that_it_understands():
    plan, lines = applied((13, 0))
    assert plan.extra == "gpu-cu13"
    assert {"cuda-toolkit<13.1", "nvidia-nvjitlink<13.1"} <= set(lines)
    still_pinned = [line for line in lines if re.match("cuda-toolkit==|nvidia-nv.*==", line)]
    assert still_pinned == []


def test_the_tools_that_ask_nothing_of_the_driver_stay_pinned():
    _, lines = applied((13, 0))
    for name in ("nvidia-cuda-nvdisasm", "nvidia-cuda-cuobjdump", "nvidia-ml-py", "cuda-bindings"):
        assert f"{name}=={pins()[name]}" in lines


def test_a_driver_for_cuda_12_gets_packages_for_cuda_12():
    plan, lines = applied((12, 4))
    assert plan.extra == "gpu-cu12"
    assert {"cuda-toolkit<12.5", "nvidia-nvjitlink-cu12<12.5", "cuda-bindings<13"} <= set(lines)
    assert not [line for line in lines if line.startswith("cuda-bindings==")]


def test_the_oldest_drivers_for_cuda_12_get_the_oldest_linker_that_numba_takes():
    assert "nvidia-nvjitlink-cu12<12.4" in applied((12, 0))[0].limits


def test_a_driver_that_is_too_old_is_named():
    plan, _ = applied((11, 4))
    assert plan.extra == "compiler"
    assert "CUDA 11.4" in plan.because
    assert "update" in plan.because


def test_macos_gets_no_cuda_packages():
    assert applied(None, "darwin")[0].extra is None


@pytest.mark.parametrize("driver", [None, (11, 4), (12, 4), (13, 0), (14, 0)])
def test_a_plan_installs_an_extra_that_exists(driver):
    extras = tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"]
    assert {applied(driver)[0].extra, "test"} <= set(extras)


def test_a_python_without_ensurepip_is_refused_in_one_sentence(monkeypatch, capsys):
    monkeypatch.setattr(setup_environment.importlib.util, "find_spec", lambda name: None)
    assert setup_environment.main(["--cuda", "none"]) == 2
    refusal = capsys.readouterr().err
    assert "python3-venv" in refusal
    assert refusal.count("\n") == 1


def test_make_refuses_every_python_that_pyproject_refuses():
    required = tomllib.loads(read("pyproject.toml"))["project"]["requires-python"]
    oldest, next_one = re.findall(r"v (?:<|>=) \((\d+, \d+)\)", read("Makefile"))
    assert required == f">={oldest.replace(', ', '.')},<{next_one.replace(', ', '.')}"


def another_python(file, version):
    """Write a program that runs `-c CODE` as this Python with another version, and files as no-op.

    It appends the arguments of each call, as a line, to `calls` in its folder.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    code = f"import sys; sys.version_info = {version}; exec(sys.argv[1])"
    file.write_text(
        f'#!/bin/sh\necho "$1" >> "{file.parent}/calls"\n'
        f"test \"$1\" != -c || exec '{sys.executable}' -c '{code}' \"$2\"\n",
        encoding="utf-8",
    )
    file.chmod(0o755)
    return file


def make_setup(folder, *arguments, **environment):
    """Run `make setup` in a folder with a copy of the Makefile, and return the process."""
    (folder / "Makefile").write_text(read("Makefile"), encoding="utf-8")
    command = ["make", "--silent", "setup", *arguments]
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHON"}
    return subprocess.run(
        command, cwd=folder, env={**inherited, **environment}, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip


needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


@needs_make
@pytest.mark.parametrize(
    "version, why",
    [((3, 10, 13), "older than 3.11"), ((3, 14, 0), "newer than 3.13"), ((4, 0, 0), "newer")],
)
def test_make_refuses_another_python_in_one_sentence(tmp_path, version, why):
    python = another_python(tmp_path / "bin" / "python", version)
    run = make_setup(tmp_path, f"PYTHON={python}")
    assert run.returncode == 2
    first, *rest = run.stderr.splitlines()
    assert first.startswith(f"This Python is {why}")
    assert "choose another, for example with PYTHON=" in first
    assert not [line for line in rest if not line.startswith("make")]


@needs_make
@pytest.mark.parametrize("version", [(3, 11, 2), (3, 12, 1), (3, 13, 9)])
def test_make_takes_every_python_of_the_course(tmp_path, version):
    python = another_python(tmp_path / "bin" / "python", version)
    assert make_setup(tmp_path, f"PYTHON={python}").returncode == 0
    assert "setup_environment.py" in (tmp_path / "bin" / "calls").read_text(encoding="utf-8")


@needs_make
def test_an_environment_is_used_with_its_own_python(tmp_path):
    own = another_python(tmp_path / ".venv" / "bin" / "python", (3, 12, 1))
    old = another_python(tmp_path / "bin" / "python3", (3, 10, 13))
    path = f"{old.parent}{os.pathsep}{os.environ['PATH']}"
    assert make_setup(tmp_path, PATH=path).returncode == 0
    assert "setup_environment.py" in (own.parent / "calls").read_text(encoding="utf-8")
    assert not (old.parent / "calls").exists()


@needs_make
def test_a_python_that_is_given_comes_before_that_of_the_environment(tmp_path):
    own = another_python(tmp_path / ".venv" / "bin" / "python", (3, 12, 1))
    given = another_python(tmp_path / "bin" / "python3.13", (3, 13, 0))
    assert make_setup(tmp_path, f"PYTHON={given}").returncode == 0
    assert make_setup(tmp_path, PYTHON=str(given)).returncode == 0
    calls = (given.parent / "calls").read_text(encoding="utf-8")
    assert calls.count("setup_environment.py") == 2
    assert not (own.parent / "calls").exists()


@needs_make
def test_an_environment_whose_python_is_gone_is_made_by_python3(tmp_path):
    dead = tmp_path / ".venv" / "bin" / "python"
    dead.parent.mkdir(parents=True)
    dead.symlink_to(tmp_path / "gone")
    python = another_python(tmp_path / "bin" / "python3", (3, 11, 2))
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    assert make_setup(tmp_path, PATH=path).returncode == 0
    assert "setup_environment.py" in (python.parent / "calls").read_text(encoding="utf-8")


def test_the_environment_is_not_made_by_its_own_python(monkeypatch, tmp_path):
    commands = []
    monkeypatch.setattr(sys, "executable", str(tmp_path / ".venv" / "bin" / "python"))
    monkeypatch.setattr(sys, "_base_executable", "/usr/bin/python3")
    monkeypatch.setattr(setup_environment, "VENV", tmp_path)
    monkeypatch.setattr(setup_environment, "STAMP", tmp_path / "installed.txt")
    monkeypatch.setattr(
        setup_environment.subprocess, "run",
        lambda command, **_: commands.append(command) or subprocess.CompletedProcess(command, 0),
    )  # fmt: skip
    assert setup_environment.main(["--cuda", "none"]) == 0
    assert commands[0] == ["/usr/bin/python3", "-m", "venv", "--clear", str(tmp_path)]


@pytest.mark.parametrize("python", ["3.11.2", "3.12.0", "3.13.0"])
def test_every_pinned_package_takes_the_pythons_of_the_course(python):
    required = {name: metadata.metadata(name).get("Requires-Python") for name in installed()}
    assert required
    assert [name for name, spec in required.items() if python not in SpecifierSet(spec or "")] == []


def installed():
    """Return the pinned packages that are installed at the version of their pin."""
    here = {canonicalize_name(each.name): each.version for each in metadata.distributions()}
    return [name for name, version in pins().items() if here.get(name) == version]


@needs_make
def test_every_make_target_is_listed_by_help():
    makefile = read("Makefile").replace("\\\n", "")
    targets = re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE).group(1).split()
    assert targets == re.findall(r"^([a-z-]+):.* ## .+$", makefile, re.MULTILINE)
    shown = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {*targets} - {*re.findall(r"^  make ([a-z-]+) ", shown, re.MULTILINE)} == {"help"}


@needs_make
def test_make_alone_shows_first_what_a_learner_needs():
    run = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True)
    listed = re.findall(r"^  make ([a-z-]+) ", run.stdout, re.MULTILINE)
    assert listed[0] == "lab"
    assert listed.index("run") < listed.index("test")
    first = re.search(r"^  make lab .*$", run.stdout, re.MULTILINE)[0]
    assert re.search(r"\d+ minutes", first)
    assert "GB" in first


@needs_make
@pytest.mark.parametrize(
    "target",
    re.search(r"^\.PHONY: (.+)$", read("Makefile").replace("\\\n", ""), re.M)[1].split(),
)
def test_make_understands_every_target(target):
    run = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
