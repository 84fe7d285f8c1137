"""Check a change, or everything; see `tools/ci/__init__.py`.

A stage runs if files changed that it depends on, since it last passed on everything. Exit code: 0
if no stage failed, 1 if one did; the others still run. With `--minutes`, a stage that is not done
in time is stopped and named; it is left to `--everything`.
"""

from __future__ import annotations

import argparse
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import cache

from tools.ci.stages import Change, Stage, stages
from utils.paths import ROOT

# Lines `commit stage`: the commit at which the stage, on everything, was green last.
WHOLE = ROOT / ".ci" / "whole"


def main(arguments: list[str]) -> int:
    """Run the stages that the change reaches; return 0 if none failed, else 1.

    Per stage, the change is everything since the stage last passed on everything. The options run
    other stages, with --everything, --since or --only, limit the minutes, or with --list only print
    the stages. arguments: the words of the command line.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.ci", description=__doc__)
    parser.add_argument("--everything", action="store_true", help="whatever changed")
    parser.add_argument("--list", action="store_true", help="print the stages, and run none")
    parser.add_argument("--since", metavar="COMMIT", help="for all stages, and not .ci/whole")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after that time")
    parser.add_argument("--only", nargs="+", metavar="STAGE", help="these stages alone")
    given = parser.parse_args(arguments)
    commits = {} if given.everything else _read()
    wanted = {}
    for name, build in stages().items():
        stage = build(_change(given.since or commits.get(name)))
        if stage and (given.only is None or name in given.only):
            wanted[name] = stage
    if given.list:
        print(*(f"{name:18} {' '.join(stage.command)}" for name, stage in wanted.items()), sep="\n")
        return 0
    return 0 if _run_all(wanted, given.everything, given.minutes) else 1


def _read() -> dict[str, str]:
    """Return a dict from a stage to the commit at which it last passed on everything.

    The dict is empty without the file `WHOLE`.
    """
    if not WHOLE.exists():
        return {}
    lines = WHOLE.read_text(encoding="utf-8").splitlines()
    return {stage: commit for commit, _, stage in (line.partition(" ") for line in lines)}


def _write(stage: str, commit: str) -> None:
    """Note in the file `WHOLE` the commit at which a stage passed on everything."""
    lines = [f"{commit} {stage}" for stage, commit in sorted({**_read(), stage: commit}.items())]
    WHOLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


@cache
def _change(since: str | None) -> Change:
    """Return the files that differ from a commit, new files included.

    It is a Change of everything if `since` is None or there is no such commit. The result is
    cached.
    """
    if since is None or _git("cat-file", "-e", f"{since}^{{commit}}") is None:
        return Change(None)
    committed = _git("diff", "--name-only", "--no-renames", since) or ""
    new = _git("ls-files", "--others", "--exclude-standard") or ""
    return Change(frozenset(f"{committed}\n{new}".split()) - {".ci/whole"})


def _git(*arguments: str) -> str | None:
    """Return the stripped output of a git command; None if the command fails."""
    command = ["git", *arguments]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return run.stdout.strip() if run.returncode == 0 else None


def _run_all(wanted: Mapping[str, Stage], everything: bool, minutes: float) -> bool:
    """Run the stages, print a table of them, and return True if none failed.

    A stage that was stopped or not run has not failed. wanted: name -> stage. everything: True to
    note the commit of each stage that passes in the file `WHOLE`. minutes: the time after which the
    running stage is stopped, and the others are not begun.
    """
    commit, rows, first = _git("rev-parse", "HEAD"), [], time.monotonic()
    for name, stage in wanted.items():
        print(f"\n=== {name}: {' '.join(stage.command)[:200]}", flush=True)
        begin = time.monotonic()
        verdict = _verdict(stage, first + 60 * minutes)
        rows.append((name, verdict, (time.monotonic() - begin) / 60))
        print(f"=== {name}: {verdict} after {rows[-1][2]:.1f} minutes", flush=True)
        if verdict == "passed" and everything:
            _write(name, commit)
    print(f"\n{'stage':18} {'':8} minutes")
    for name, verdict, taken in rows:
        print(f"{name:18} {verdict:8} {taken:7.1f}")
    print(f"{'together':27} {sum(taken for *_, taken in rows):7.1f}", flush=True)
    return all(verdict != "FAILED" for _, verdict, _ in rows)


def _verdict(stage: Stage, end: float) -> str:
    """Run a stage until it passes, at most `tries` times, and return its verdict.

    It is "passed", "FAILED", "stopped", or "not run" if there was no time left. end: the moment of
    `time.monotonic` at which the stage is stopped.
    """
    for _ in range(stage.tries):
        if time.monotonic() > end:
            return "not run"
        code = _exit_code(stage.command, end)
        if code in (0, None):
            return "passed" if code == 0 else "stopped"
    return "FAILED"


def _exit_code(command: tuple[str, ...], end: float) -> int | None:
    """Run a command and return its exit code, or None if it had to be stopped.

    end: the moment of `time.monotonic` at which it is stopped, with all processes that it started.
    """
    process = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
    try:
        return process.wait(None if math.isinf(end) else max(0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None
    except KeyboardInterrupt:
        os.killpg(process.pid, signal.SIGKILL)
        raise


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
