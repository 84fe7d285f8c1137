"""The first cell in Colab: what it installs, what it leaves alone, and its messages."""

import ast
import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

from gpu_xray import cuda_programs
from utils.machine import prepare, setup_environment
from utils.machine.prepare import (
    CourseError,
    Missing,
    cuda_major,
    missing,
    needed,
    report,
)
from utils.paths import DATA, ROOT

LIST = max((DATA / "platforms").glob("colab_*.txt")).read_text(encoding="utf-8")
OURS = {"numba": "0.68.1", "numba-cuda": "0.30.4"}
OTHER_REFUSAL = "ERROR: Could not find a version that satisfies the requirement numba==0.68.1"


@pytest.fixture
def colab(monkeypatch):
    """Let this session have the packages of Colab's list, but not its programs."""
    packages = {
        name.lower().replace("_", "-"): version
        for name, version in (line.split("==") for line in LIST.splitlines())
    }
    monkeypatch.setenv("COLAB_RELEASE_TAG", "a-test")
    monkeypatch.setattr(prepare, "installed", lambda: packages)
    monkeypatch.setattr(prepare, "system_program", lambda name: None)
    monkeypatch.setattr(prepare.setup, "driver_cuda", lambda: None)
    monkeypatch.setattr(prepare, "imported", list)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    return packages


def pip_that(monkeypatch, **ends):
    """Replace subprocess.run by a pip with this result; return the list of its commands."""
    commands = []

    def run(command, **ignored):
        commands.append(command)
        return SimpleNamespace(**{"returncode": 0, "stdout": "", "stderr": "", **ends})

    monkeypatch.setattr(prepare.subprocess, "run", run)
    return commands


def test_of_colabs_list_only_numba_and_the_programs_are_missing(colab):
    assert missing((12, 4), colab).requirements == (
        "numba==0.68.1",
        "numba-cuda[cu12]==0.30.4",
        "nvidia-cuda-cuobjdump==13.4.92",
        "nvidia-cuda-nvdisasm==13.4.92",
    )


def test_what_the_page_and_other_libraries_run_on_stays_as_it_is(colab):
    kept = missing((12, 4), colab).constraints
    names = ("numpy", "ipython", "ipywidgets", "pandas", "nvidia-nvjitlink-cu12", "cuda-toolkit")
    assert {f"{name}=={colab[name]}" for name in names} <= set(kept)
    assert not {line.split("==")[0] for line in kept} & {*prepare.REPLACED, *prepare.FOLLOWING}


def test_the_toolkit_of_the_image_is_not_limited_but_a_new_one_is(colab):
    assert not [line for line in missing((12, 4), colab).constraints if "<" in line]
    bare = {name: at for name, at in colab.items() if not name.startswith(("nvidia", "cuda"))}
    assert "nvidia-nvjitlink-cu12<12.5" in missing((12, 4), bare).constraints


def test_versions_that_pip_does_not_take_are_left_out_of_its_constraints(colab):
    kept = missing(None, {**colab, "of-the-system": "1.0-custom"}).constraints
    assert not [line for line in kept if "of-the-system" in line]


@pytest.mark.parametrize(
    "driver, bindings, major",
    [
        (None, None, 13), (None, "12.9.7", 12), ((12, 4), "12.9.7", 12), ((12, 4), None, 12),
        ((12, 8), "13.5.0", 12), ((13, 0), "12.9.7", 12), ((13, 0), "13.5.0", 13),
        ((14, 0), None, 13),
    ],
)  # fmt: skip
def test_the_cuda_of_the_packages_is_one_that_the_driver_understands(driver, bindings, major):
    assert cuda_major(driver, {"cuda-bindings": bindings} if bindings else {}) == major


def test_where_all_is_there_nothing_is_installed(colab, monkeypatch):
    commands = pip_that(monkeypatch)
    there = {"nvidia-cuda-cuobjdump": "13.4.92", "nvidia-cuda-nvdisasm": "13.4.92"}
    colab.update({**OURS, **there})
    prepare.main()
    assert commands == []


def test_programs_of_the_image_are_found_and_not_installed(colab, monkeypatch):
    monkeypatch.setattr(prepare, "system_program", lambda name: f"/there/{name}")
    assert missing(None, {**colab, **OURS}) is None


def test_a_program_in_the_toolkits_own_folder_is_found(tmp_path, monkeypatch):
    program = tmp_path / "nvdisasm"
    shutil.copy(shutil.which("true"), program)
    monkeypatch.setattr(cuda_programs, "FOLDERS", (str(tmp_path),))
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setenv("PATH", "")
    assert cuda_programs.system_program("nvdisasm") == str(program)
    assert cuda_programs.system_program("cuobjdump") is None


def test_a_program_that_came_as_a_wheel_is_found(tmp_path, monkeypatch):
    program = tmp_path / "nvidia" / "cu13" / "bin" / "cuobjdump"
    program.parent.mkdir(parents=True)
    shutil.copy(shutil.which("true"), program)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setenv("PATH", "")
    assert cuda_programs.system_program("cuobjdump") == str(program)


def test_pip_is_given_what_it_must_keep(colab, monkeypatch):
    commands = pip_that(monkeypatch)
    prepare.install(Missing(("numba==0.68.1",), ("numpy==2.1.3",)))
    ((*_, flag, _, requirement),) = commands
    assert (flag, requirement) == ("--constraint", "numba==0.68.1")


def test_what_changed_and_what_no_longer_fits_is_told():
    complaints = "cuml 26.2 requires numba<0.62, but you have numba 0.68.1 which is incompatible."
    message = report({"numba": "0.61.2"}, {"numba": "0.68.1", "new": "1.0"}, complaints)
    assert "Installed: new 1.0, numba 0.61.2 → 0.68.1." in message
    assert "do not use cuml:" in message


def test_a_session_that_has_imported_numba_is_to_be_restarted(colab, monkeypatch):
    pip_that(monkeypatch)
    monkeypatch.setattr(prepare, "imported", lambda: ["numba"])
    with pytest.raises(CourseError, match=r"imported numba .* Restart session"):
        prepare.main()


def test_without_a_network_kernels_run_on_the_virtual_gpu(colab, monkeypatch, capsys):
    pip_that(monkeypatch, returncode=1, stderr=f"WARNING: retrying\n{OTHER_REFUSAL}\n")
    prepare.main()
    output = capsys.readouterr().out
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "-1"
    assert "Could not find a version" in output
    assert "run on the virtual GPU" in output


def test_an_installation_that_hangs_is_ended(colab, monkeypatch, capsys):
    def run(command, timeout, **ignored):
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(prepare.subprocess, "run", run)
    prepare.main()
    assert "pip did not finish within 900 seconds" in capsys.readouterr().out


def test_without_a_network_and_without_a_package_the_lesson_cannot_go_on(colab, monkeypatch):
    pip_that(monkeypatch, returncode=1, stderr=OTHER_REFUSAL)
    del colab["py-cpuinfo"]
    with pytest.raises(CourseError, match="connect this session to the network"):
        prepare.main()


def test_with_an_old_driver_kernels_run_on_the_virtual_gpu(colab, monkeypatch, capsys):
    pip_that(monkeypatch)
    monkeypatch.setattr(prepare.setup, "driver_cuda", lambda: (11, 8))
    prepare.main()
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "-1"
    assert "understands CUDA 11.8, which is older than 12.0: update it" in capsys.readouterr().out


def test_an_old_python_is_refused_in_one_sentence():
    with pytest.raises(CourseError, match=r"This Python is 3\.10, and the course needs 3\.11"):
        prepare.require_python((3, 10, 4, "final", 0))


@pytest.mark.parametrize(
    "name",
    [
        "gpu_xray/errors",
        "gpu_xray/cuda_programs",
        "utils/machine/prepare",
        "utils/machine/setup_environment",
    ],
)
def test_python_3_10_can_read_what_refuses_it(name):
    text = (ROOT / f"{name}.py").read_text(encoding="utf-8")
    ast.parse(text, feature_version=(3, 10))
    assert "tomllib" not in text


@pytest.mark.parametrize("compiler", ["numba-cuda", "numba-cuda-mlir"])
def test_either_compiler_of_kernels_will_do(monkeypatch, compiler):
    others = {"numba-cuda", "numba-cuda-mlir"} - {compiler}
    monkeypatch.setattr(prepare, "is_installed", lambda name: name not in others)
    assert all(map(prepare._is_there, prepare.needed("linux")))
    monkeypatch.setattr(prepare, "is_installed", lambda name: "cuda" not in name)
    assert [name for name in prepare.needed("linux") if not prepare._is_there(name)] == [
        "numba-cuda"
    ]


def test_elsewhere_what_is_missing_is_named_and_nothing_is_installed(monkeypatch):
    commands = pip_that(monkeypatch)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(prepare, "is_installed", lambda name: name != "numba")
    with pytest.raises(CourseError, match="This Python lacks numba: run `make lab`"):
        prepare.main()
    assert commands == []


def test_lessons_need_what_the_project_asks_for_but_no_jupyterlab():
    assert {"numba", "numpy", "numba-cuda", "ipywidgets"} <= set(needed("linux"))
    assert "jupyterlab" not in needed("linux")
    assert set(needed("linux")) - set(needed("darwin")) == {"numba-cuda"}


def test_it_asks_for_the_oldest_python_of_the_project():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert 'requires-python = ">={}.{},'.format(*prepare.OLDEST_PYTHON) in text
    assert setup_environment.OLDEST_CUDA == prepare.setup.OLDEST_CUDA
