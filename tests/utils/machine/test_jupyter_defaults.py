"""Tests that `make lab` opens JupyterLab without a question about news."""

import json
import re
import subprocess
import sys

from utils.paths import ROOT

NOTIFICATION = "@jupyterlab/apputils-extension:notification"
SHOW = """
import json
from jupyterlab.commands import get_app_dir
from jupyterlab_server.settings_utils import get_settings
schemas, settings = (f"{get_app_dir()}/{each}" for each in ("schemas", "settings"))
found = get_settings(settings, schemas, "", schema_name=NAME, overrides=None)[0]
print(json.dumps(found["schema"]["properties"]["fetchNews"]["default"]))
"""


def lab_command(*, variables=()):
    """Return the command with which `make lab` starts JupyterLab."""
    command = ["make", "--dry-run", "--old-file=setup", "lab", *variables]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    # Within `make test` the last line is that this make leaves the folder.
    return next(line for line in printed.stdout.splitlines() if "-m jupyterlab" in line)


def config_path(command):
    return re.match(r'JUPYTER_CONFIG_PATH="([^"]*)" ', command)[1]


def default_of_news(environment):
    """Return JupyterLab's own default of the news setting in an environment."""
    code = SHOW.replace("NAME", repr(NOTIFICATION))
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_jupyterlab_neither_asks_for_nor_fetches_news(tmp_path):
    home = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    assert default_of_news(home) == "none"  # it asks
    path = config_path(lab_command())
    assert default_of_news({**home, "JUPYTER_CONFIG_PATH": path}) == "false"


def test_a_config_path_of_the_readers_stays():
    path = config_path(lab_command(variables=["JUPYTER_CONFIG_PATH=/mine"]))
    assert path.split(":") == [str(ROOT / "utils/machine/jupyter"), "/mine"]
