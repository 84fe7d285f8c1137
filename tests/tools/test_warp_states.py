"""Test how the profiler's output becomes rows of `warp_states.csv`."""

from reduce_kernels.remainder import WarpState, variants
from tools.records.issue_slots import ELEMENTS
from tools.records.warp_states import rows_of

HEAD = '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"'


def test_only_the_ratios_of_the_states_become_rows():
    lines = [HEAD]
    for number, variant in enumerate(variants()):
        for state, value in (("wait", "1.5"), ("barrier", "2")):
            metric = f"smsp__average_warps_issue_stalled_{state}_per_issue_active"
            begin = f'"{number}","a::{variant.step.name}[abi:v1](Array)","{metric}'
            lines += [f'{begin}.ratio","inst","{value}"', f'{begin}.pct","%","7"']
    first, second, *others = rows_of("==PROF== log\n" + "\n".join(lines), "one")
    assert first == WarpState("one", "reduce0", ELEMENTS, "barrier", 2)
    assert second == WarpState("one", "reduce0", ELEMENTS, "wait", 1.5)
    assert len(others) == 2 * (len(variants()) - 1)
