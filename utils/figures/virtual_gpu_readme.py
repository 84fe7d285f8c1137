"""The section of the virtual GPU's README about its exactness, from records of a device.

``python -m utils.figures.readme`` writes it. virtual_gpu/tests/test_counters.py and
test_sanitizer.py prove that the virtual GPU finds what the section claims.
"""

from __future__ import annotations

import pandas as pd

from utils.machine.devices import REFERENCE, slug
from utils.paths import MEASURED, ROOT

README = ROOT / "virtual_gpu" / "README.md"
NUMBA_SUITE = ROOT / "virtual_gpu" / "tests" / "numba_suite" / "outcomes.csv"
KINDS = {
    "race": "races",
    "out_of_bounds": "indices out of bounds",
    "uninitialised": "uninitialised memory",
    "barrier": "barriers",
}
SANITIZER_HEAD = (
    "| flaw | broken kernels | found by compute-sanitizer | found here | correct kernels | "
    "accused here |\n| --- | ---: | ---: | ---: | ---: | ---: |"
)


def exactness(device: str = REFERENCE) -> str:
    """Return Markdown that compares the virtual GPU with a device and the device's tools.

    It compares counts with the profiler's, results with the device's and verdicts with
    compute-sanitizer's, and reports the outcomes of Numba's own tests.
    """
    return "\n\n".join((_counts(device), _results(device), _verdicts(device), _numba_suite()))


def _counts(device: str) -> str:
    """Return Markdown: how many counts equal the profiler's, and why others differ."""
    counts = pd.read_csv(MEASURED / slug(device) / "counters.csv", keep_default_na=False)
    different = counts[counts["reason"] != ""]
    rows = [
        f"| {reason} | {number} |" for reason, number in different["reason"].value_counts().items()
    ]
    return (
        f"On one {device} the profiler recorded {counts['counter'].nunique()} counters in each of "
        f"{counts['launch'].nunique()} launches: requests, sectors, wavefronts and active lanes. "
        f"The virtual GPU's counts are exactly equal in {len(counts) - len(different)} of these "
        f"{len(counts)}; the other {len(different)} differ for one of these reasons:\n\n"
        "| reason | counts |\n| --- | ---: |\n" + "\n".join(rows)
    )


def _results(device: str) -> str:
    """Return Markdown: how many results equal the device's, with the reasons of all differences."""
    rows = pd.read_csv(MEASURED / slug(device) / "differential.csv", keep_default_na=False)
    ran = rows[rows["verdict"].isin(["equal", "within", "different"])]
    kinds = ran["verdict"].value_counts()
    reasons = ran.loc[ran["verdict"] == "different", "reason"].value_counts()
    listed = "\n".join(f"| {reason} | {number} |" for reason, number in reasons.items())
    return (
        f"{len(ran)} cases of operators, casts, functions and intrinsics, in all types that Numba "
        f"takes, were computed on that device and here, each for up to {ran['elements'].max()} "
        f"values with many corner cases. {kinds['equal']} results are equal in every bit, "
        f"{kinds['within']} are within the error allowed for their function, and the others "
        "differ for one of these reasons:\n\n"
        f"| reason | results |\n| --- | ---: |\n{listed}"
    )


def _verdicts(device: str) -> str:
    """Return Markdown: the broken kernels that compute-sanitizer and the virtual GPU report."""
    verdicts = pd.read_csv(MEASURED / slug(device) / "sanitizer.csv")
    rows = [_verdict_row(words, verdicts[verdicts["kind"] == k]) for k, words in KINDS.items()]
    hung = int(verdicts["hung"].sum())
    return (
        "Small kernels, broken and correct, ran on that device under compute-sanitizer, each with "
        f"the tool for its kind of flaw; {hung} of them hung there. The tests run the same kernels "
        "here:\n\n" + "\n".join((SANITIZER_HEAD, *rows))
    )


def _verdict_row(words: str, verdicts: pd.DataFrame) -> str:
    """Return the row of the table of verdicts for one kind of flaw, named by `words`.

    verdicts: the rows of `sanitizer.csv` for this kind. The columns are those of SANITIZER_HEAD.
    The cells about the virtual GPU always say that it finds all broken kernels and accuses no
    correct one, as its tests prove.
    """
    broken = verdicts[verdicts["corpus"] == "broken"]
    reported, correct = int(broken["reported"].sum()), len(verdicts) - len(broken)
    return f"| {words} | {len(broken)} | {reported} | {len(broken)} | {correct} | 0 |"


def _numba_suite() -> str:
    """Return Markdown: the outcomes of Numba's own tests on the virtual GPU."""
    outcomes = pd.read_csv(NUMBA_SUITE).groupby("outcome")["count"].sum()
    listed = outcomes.sort_values(ascending=False).items()
    rows = "\n".join(f"| {outcome} | {number} |" for outcome, number in listed)
    return (
        f"Numba's own tests of CUDA kernels, {outcomes.sum()} with their subtests, run here, too. "
        "`virtual_gpu/tests/numba_suite/outcomes.csv` gives the outcome and the reason of each:\n\n"
        f"| outcome | tests |\n| --- | ---: |\n{rows}"
    )


SECTIONS = {"exactness": exactness}
