"""A release's files are compared one by one, and the changelog covers every version."""

import zipfile

from tools.release.contents import COURSE, changes, left_out, too_much, version
from utils.paths import ROOT

CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_changelog_tells_of_the_version():
    assert changes(version(), CHANGELOG)


def test_a_version_without_a_word_would_be_noticed():
    assert changes("9.9.9", CHANGELOG) is None
    assert changes("9.9.9", "# Changes\n\n## 9.9.9\n\n## 0.1.0\n\nFirst.\n") is None


def test_the_wheel_and_the_course_have_one_version():
    assert version() == version(COURSE)


def wheel_with(folder, *names):
    with zipfile.ZipFile(folder / "a.whl", "w") as archive:
        for name in names:
            archive.writestr(name, "")
    return folder / "a.whl"


def test_what_the_wheel_leaves_out_is_named(tmp_path):
    names = ["virtual_gpu/__init__.py", "gpu_xray/data/architectures.csv"]
    wheel = wheel_with(tmp_path, *names)
    others = ["virtual_gpu/README.md", "virtual_gpu/tests/test_host.py", "labs/__init__.py"]
    assert left_out(wheel, [*names, *others]) == []
    missing = ["virtual_gpu/pictures/player.js", "gpu_xray/opcodes.py"]
    assert left_out(wheel, [*names, *missing]) == missing


def test_what_does_not_belong_into_the_wheel_is_named(tmp_path):
    names = ["virtual_gpu/__init__.py", "gpu_xray/tests/test_xray.py"]
    wheel = wheel_with(tmp_path, *names, "numba_virtual_gpu-1.dist-info/METADATA")
    assert too_much(wheel, names) == names[1:]
