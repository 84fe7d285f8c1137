"""What the virtual GPU's README says of its exactness, from what was recorded of a device.

That the virtual GPU finds what is said here is tested: virtual_gpu/tests/test_counters.py and
test_sanitizer.py. ``python -m utils.figures.readme`` writes it.
"""

from __future__ import annotations

import pandas as pd

from utils.machine.devices import REFERENCE, slug
from utils.paths import MEASURED, ROOT

README = ROOT / "utils" / "virtual_gpu" / "README.md"
NUMBA_SUITE = ROOT / "tests" / "numba_suite" / "outcomes.csv"
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
    """Markdown: counts against the profiler's, results against the device's, verdicts against
    compute-sanitizer's, and what became of Numba's own tests."""
    return "\n\n".join((_counts(device), _results(device), _verdicts(device), _numba_suite()))


def _counts(device: str) -> str:
    counts = pd.read_csv(MEASURED / slug(device) / "counters.csv", keep_default_na=False)
    different = counts[counts["reason"] != ""]
    rows = [
        f"| {reason} | {number} |" for reason, number in different["reason"].value_counts().items()
    ]
    return (
        f"On one {device} the profiler counted {counts['counter'].nunique()} things in each of "
        f"{counts['launch'].nunique()} launches: requests, sectors, wavefronts and active lanes. "
        f"Of these {len(counts)} counts {len(counts) - len(different)} are equal here, exactly, "
        f"and {len(different)} differ for one of these reasons:\n\n"
        "| reason | counts |\n| --- | ---: |\n" + "\n".join(rows)
    )


def _results(device: str) -> str:
    rows = pd.read_csv(MEASURED / slug(device) / "differential.csv", keep_default_na=False)
    ran = rows[rows["verdict"].isin(["equal", "within", "different"])]
    kinds = ran["verdict"].value_counts()
    reasons = ran.loc[ran["verdict"] == "different", "reason"].value_counts()
    listed = "\n".join(f"| {reason} | {number} |" for reason, number in reasons.items())
    return (
        f"Operators, casts, functions and intrinsics, in all types that Numba takes: {len(ran)} "
        f"results, each of up to {ran['elements'].max()} values with many corners, were computed "
        f"on that device and here. {kinds['equal']} are equal in every bit, {kinds['within']} "
        "within the last places that their function is allowed, and the rest differ for one of "
        "these reasons:\n\n"
        f"| reason | results |\n| --- | ---: |\n{listed}"
    )


def _verdicts(device: str) -> str:
    verdicts = pd.read_csv(MEASURED / slug(device) / "sanitizer.csv")
    rows = [_verdict_row(words, verdicts[verdicts["kind"] == k]) for k, words in KINDS.items()]
    hung = int(verdicts["hung"].sum())
    return (
        "Small kernels, broken and correct, ran on that device under compute-sanitizer, each with "
        f"the tool that is made for its flaw; {hung} of them hung there. The same kernels run "
        "here in the tests:\n\n" + "\n".join((SANITIZER_HEAD, *rows))
    )


def _verdict_row(words: str, verdicts: pd.DataFrame) -> str:
    broken = verdicts[verdicts["corpus"] == "broken"]
    reported, correct = int(broken["reported"].sum()), len(verdicts) - len(broken)
    return f"| {words} | {len(broken)} | {reported} | {len(broken)} | {correct} | 0 |"


def _numba_suite() -> str:
    outcomes = pd.read_csv(NUMBA_SUITE).groupby("outcome")["count"].sum()
    listed = outcomes.sort_values(ascending=False).items()
    rows = "\n".join(f"| {outcome} | {number} |" for outcome, number in listed)
    return (
        f"Numba's own tests of CUDA kernels, {outcomes.sum()} with their parts, run here, too. "
        "`virtual_gpu/tests/numba_suite/outcomes.csv` gives the outcome and the reason of each:\n\n"
        f"| outcome | tests |\n| --- | ---: |\n{rows}"
    )


SECTIONS = {"exactness": exactness}
