"""Record the reports of the checker and the virtual GPU on known kernels: `python -m tools.corpus`.

For each exercise the corpus covers starter, solution, right and wrong versions and mutants with all
sentences and counts of the verdict, and the text of the task. For the virtual GPU it covers the
findings in its broken and its right kernels. `tools/corpus.json` holds a digest of each, so that a
change of a single word is noticed. `--out FOLDER` stores the sentences themselves, and `--against
FOLDER` lists how they differ from stored ones.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from labs import EXERCISES, check
from labs.checking.exercise import Exercise
from labs.checking.variants import function_in, right_versions, wrong_versions
from labs.grading.mutants import sample
from utils.paths import ROOT
from virtual_gpu import trace
from virtual_gpu.host.allocation import device_array_like
from virtual_gpu.tests.kernels.run_case import CASES

DIGESTS = ROOT / "tools" / "corpus.json"
MUTANTS = 40  # of each solution
PATIENCE, SHORT = 20.0, 2.0  # seconds of a launch, and of one that never ends
VIRTUAL_GPU = "virtual_gpu"


def versions(exercise: Exercise) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of every known version of an exercise.

    They are the starter, the solution, the right and the wrong versions and mutants of the
    solution. A name is such as "solution", "right: two loops" or "mutant 3: " and what was changed.
    """
    yield "starter", exercise.starter_text
    yield "solution", exercise.solution_text
    for what, text in right_versions(exercise):
        yield f"right: {what}", text
    for one in wrong_versions(exercise):
        yield f"wrong: {one.what}", one.text
    for number, one in enumerate(sample(exercise.solution_text, MUTANTS)):
        yield f"mutant {number}: {one.what}", one.text


def reports_on(name: str) -> dict:
    """Return a dict from a version to the report on it, for one exercise or for the virtual GPU.

    For the virtual GPU, the versions are its test kernels, and a report is a list of texts, one per
    finding. For an exercise, it is a dict with the verdict's causes, facts, notes and counts, or
    {"undefined": name of the error} for a version that cannot be defined; "task" has the list of
    the task's texts. name: the exercise's name, or VIRTUAL_GPU.
    """
    warnings.simplefilter("ignore")
    if name == VIRTUAL_GPU:
        return {case.name: _findings(case) for case in CASES.values()}
    exercise = EXERCISES[name]
    goals = (*exercise.goals, *exercise.usual_goals)
    task = [exercise.title, *exercise.text, *goals, *exercise.hints, exercise.after]
    return {"task": task} | {what: _verdict(name, what, text) for what, text in versions(exercise)}


def _verdict(name: str, what: str, text: str) -> dict:
    """Return the report on one version of an exercise.

    It is a dict with the verdict's causes, facts, notes and counts, or {"undefined": name of the
    error} for a version that cannot be defined. what: the name of the version. text: its code.
    """
    try:
        function = function_in(name, text)
    except Exception as error:  # a mutant that cannot even be defined
        return {"undefined": type(error).__name__}
    verdict = check(name, function, SHORT if "ever" in what else PATIENCE)
    return {
        "causes": verdict.causes,
        "facts": verdict.facts,
        "notes": verdict.notes,
        "counts": {what: float(value) for what, value in verdict.counts.items()},
    }


def _findings(case) -> list[str]:
    """Run a kernel on the virtual GPU; return a text per finding: its kind, line and message.

    case: one of the virtual GPU's test cases, with kernel, launch and arguments.
    """
    arguments = tuple(
        device_array_like(argument) if number in case.unset else argument
        for number, argument in enumerate(case.arguments())
    )
    run = trace(case.kernel, case.grid, case.block, *arguments, shared_bytes=case.shared_bytes)
    return [f"{one.kind}, line {one.line}: {one.message}" for one in run.findings]


def digest(reports: dict) -> str:
    """Return 16 hexadecimal digits of a hash of the reports on one exercise."""
    return hashlib.sha256(json.dumps(reports, sort_keys=True).encode()).hexdigest()[:16]


def differences(before: dict, after: dict) -> Iterator[str]:
    """Yield a text of three lines per version whose report differs: version, old and new report.

    A report is None for a version that only the other dict has. before, after: dicts from a version
    to its report.
    """
    after = json.loads(json.dumps(after))
    for what in dict.fromkeys((*before, *after)):
        if before.get(what) != after.get(what):
            yield f"{what}\n  - {before.get(what)}\n  + {after.get(what)}"


def main() -> None:
    """Judge all versions of the exercises and update their digests in `tools/corpus.json`.

    It prints a line per exercise, which says if the digest has changed. With --out FOLDER the
    reports are written there as JSON, and with --against FOLDER the reports that differ from those
    there are printed. The arguments are the names of exercises, by default all.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.corpus", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="EXERCISE", help="default: all of them")
    parser.add_argument("--out", type=Path, metavar="FOLDER")
    parser.add_argument("--against", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    names = options.names or [*EXERCISES, VIRTUAL_GPU]
    digests = json.loads(DIGESTS.read_text()) if DIGESTS.exists() else {}
    with ProcessPoolExecutor() as pool:
        for name, reports in zip(names, pool.map(reports_on, names), strict=True):
            news = "" if digests.get(name) == digest(reports) else ", another digest than before"
            print(f"{name}: {len(reports)}{news}", flush=True)
            digests[name] = digest(reports)
            if options.out:
                options.out.mkdir(parents=True, exist_ok=True)
                file = options.out / f"{name}.json"
                file.write_text(json.dumps(reports, indent=1, ensure_ascii=False), encoding="utf-8")
            if options.against:
                before = json.loads((options.against / f"{name}.json").read_text(encoding="utf-8"))
                print("\n".join(differences(before, reports)))
    DIGESTS.write_text(json.dumps(dict(sorted(digests.items())), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
