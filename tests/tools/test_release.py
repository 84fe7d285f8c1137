"""What a release must hold is compared by file, and every version is told of."""

import zipfile

from tools.release.contents import changes, left_out, version
from utils.paths import ROOT

CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_changelog_tells_of_the_version():
    assert changes(version(), CHANGELOG)


def test_a_version_without_a_word_would_be_noticed():
    assert changes("9.9.9", CHANGELOG) is None
    assert changes("9.9.9", "# Changes\n\n## 9.9.9\n\n## 0.1.0\n\nFirst.\n") is None


def test_what_the_wheel_leaves_out_is_named(tmp_path):
    wheel = tmp_path / "a.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name in ("utils/errors.py", "utils/data/devices.csv", "labs/exercises.py"):
            archive.writestr(name, "")
    tracked = ["utils/errors.py", "data/devices.csv", "labs/exercises.py", "README.md"]
    assert left_out(wheel, tracked) == []
    lacking = ["utils/paths.py", "data/README.md", "notebooks/00_start_here.ipynb"]
    assert left_out(wheel, [*tracked, *lacking]) == lacking
