"""Without Chromium, tests of pictures are skipped, or fail if Chromium is required."""

import pytest

from tests.browser import EVERYTHING, NEEDED, chromium


@pytest.fixture(autouse=True)
def no_programs(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))


def test_without_chromium_a_test_is_skipped_with_a_sentence(monkeypatch):
    for variable in (NEEDED, EVERYTHING):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(pytest.skip.Exception, match="needs Chromium on PATH"), chromium():
        pass


@pytest.mark.parametrize("variable", [NEEDED, EVERYTHING])
def test_without_chromium_it_fails_where_the_browser_was_promised(monkeypatch, variable):
    monkeypatch.setenv(variable, "1")
    with pytest.raises(pytest.fail.Exception, match="needs Chromium on PATH"), chromium():
        pass
