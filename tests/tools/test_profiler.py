"""How a command is started under the profiler, and how the profiler's table is read."""

import sys
from types import SimpleNamespace

import pytest

from tools.records import profiler
from tools.records.profiler import lines_of, profiled_text

TABLE = '==PROF== done\n"ID","Metric Name","Metric Value"\n"0","cycles","1,024"\n'


@pytest.fixture
def started(monkeypatch):
    """Let the profiler print `prints` with the exit code `code`; `command` is what was started."""
    seen = SimpleNamespace(code=0, prints=TABLE, command=None)

    def run(command, **_):
        seen.command = command
        return SimpleNamespace(returncode=seen.code, stdout=seen.prints, stderr="no permission")

    monkeypatch.setattr(profiler.subprocess, "run", run)
    return seen


def test_the_module_runs_under_the_profiler_with_its_own_arguments(started):
    assert profiled_text(["--metrics", "cycles"], "some.module", "--launch") == TABLE
    options = started.command[: started.command.index(sys.executable)]
    assert options == ["ncu", *profiler.OPTIONS, "--metrics", "cycles"]
    assert started.command[-3:] == ["-m", "some.module", "--launch"]


def test_the_table_follows_other_lines(started):
    assert lines_of(profiled_text([], "some.module")) == [
        {"ID": "0", "Metric Name": "cycles", "Metric Value": "1,024"}
    ]


@pytest.mark.parametrize(("code", "prints"), [(1, TABLE), (0, "==PROF== no kernel was profiled")])
def test_a_profiler_that_fails_or_sees_nothing_ends_the_command(started, code, prints):
    started.code, started.prints = code, prints
    with pytest.raises(SystemExit, match=r"(?s)The profiler failed: .* no permission"):
        profiled_text([], "some.module")
