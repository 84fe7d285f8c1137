"""The site's environment is made once, and again when its pins change."""

import pytest

from tests.site.scripts import script


@pytest.fixture
def environment(monkeypatch, tmp_path):
    """Return the script with its own folder; commands are only recorded, and return `.codes`."""
    module = script("environment")
    pins = tmp_path / "constraints.txt"
    pins.write_text("sphinx==9.0.4\n", encoding="utf-8")
    monkeypatch.setattr(module, "PINS", (pins,))
    monkeypatch.setattr(module, "ENVIRONMENT", tmp_path / "env")
    monkeypatch.setattr(module, "STAMP", tmp_path / "env" / "installed.txt")
    module.commands, module.codes = [], {"venv": 0, "pip": 0}

    def run(*command):
        module.commands.append(command[2])
        module._packages().mkdir(parents=True, exist_ok=True)
        return module.codes[command[2]]

    monkeypatch.setattr(module, "_run", run)
    return module


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
