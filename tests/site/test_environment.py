"""The site's environment is made once, and again when its pins change."""

import pytest

from tests.site.scripts import script


@pytest.fixture
def environment(monkeypatch, tmp_path):
    """The script with a folder of its own; what it runs is noted, and ends with `.codes`."""
    loaded = script("environment")
    pins = tmp_path / "constraints.txt"
    pins.write_text("sphinx==9.0.4\n", encoding="utf-8")
    monkeypatch.setattr(loaded, "PINS", (pins,))
    monkeypatch.setattr(loaded, "ENVIRONMENT", tmp_path / "env")
    monkeypatch.setattr(loaded, "STAMP", tmp_path / "env" / "installed.txt")
    loaded.commands, loaded.codes = [], {"venv": 0, "pip": 0}

    def run(*command):
        loaded.commands.append(command[2])
        loaded._packages().mkdir(parents=True, exist_ok=True)
        return loaded.codes[command[2]]

    monkeypatch.setattr(loaded, "_run", run)
    return loaded


def test_it_is_made_once(environment):
    assert environment.main() == 0
    assert environment.main() == 0
    assert environment.commands == ["venv", "pip"]


def test_it_is_made_again_when_a_pin_changes(environment):
    environment.main()
    environment.PINS[0].write_text("sphinx==9.1.1\n", encoding="utf-8")
    assert environment.main() == 0
    assert environment.commands == ["venv", "pip"] * 2


@pytest.mark.parametrize("failing, ran", [("venv", ["venv"]), ("pip", ["venv", "pip"])])
def test_what_failed_is_tried_again(environment, capsys, failing, ran):
    environment.codes[failing] = 3
    assert environment.main() == 3
    assert "could not be installed" in capsys.readouterr().err
    environment.codes[failing] = 0
    assert environment.main() == 0
    assert environment.commands == [*ran, "venv", "pip"]
