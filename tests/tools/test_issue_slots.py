"""Test how the profiler's output becomes rows of `issue_slots.csv`."""

import pytest

from reduce_kernels.remainder import IssueSlots, variants
from tools.records.issue_slots import BUSY, ELEMENTS, INSTRUCTIONS, rows_of
from utils.errors import CourseError

HEAD = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",'
    '"Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"'
)
LOG = """\
==PROF== Connected to process 4711 (/usr/bin/python3.12)
==PROF== Profiling "reduce0" - 0: 0%....50%....100% - 1 pass
==PROF== Disconnected from process 4711
"""
COUNTED = {
    "reduce0": ("306,315,264", "81.01"),
    "without_remainder": ("146,931,712", "84.89"),
    "reduce1": ("163,708,928", "77.98"),
    "reduce2": ("147,718,144", "78.49"),
    "reduce3": ("73,334,784", "79.75"),
    "without_remainder_32": ("137,494,528", "80.69"),
    "reduce2_32": ("121,503,744", "74.88"),
    "masks_up": ("130,154,496", "78.10"),
    "masks_down": ("130,940,928", "80.19"),
    "warps_leave": ("30,277,632", "60.00"),
    "with_conflicts": ("7", "1"),
    "without_conflicts": ("8", "2"),
    "lanes_diverge": ("9", "3"),
    "warps_agree": ("999", "100"),
}


def lines_of(number: int, kernel: str, instructions: str, busy: str) -> list[str]:
    """Return the two lines that the profiler prints for one launch."""
    name = (
        f"cudapy::reduce_kernels::{kernel}::build::_3clocals_3e::{kernel}[abi:v1,cw51cXTLSUwv1s]"
        "(Array<float, (int)1, C, mutable, aligned>, Array<float, (int)1, C, mutable, aligned>)"
    )
    launch = f'"{number}","4711","python3.12","127.0.0.1","{name}","1","7","(256, 1, 1)"'
    launch += ',"(131072, 1, 1)","0","9.0","Command line profiler metrics"'
    return [f'{launch},"{BUSY}","%","{busy}"', f'{launch},"{INSTRUCTIONS}","inst","{instructions}"']


def output(counted: dict[str, tuple[str, str]]) -> str:
    """Return what the profiler prints for launches of these kernels, in this order."""
    lines = [
        line
        for number, (kernel, values) in enumerate(counted.items())
        for line in lines_of(number, kernel, *values)
    ]
    return LOG + "\n".join([HEAD, *lines]) + "\n"


def test_a_row_has_the_instructions_and_the_fraction_of_busy_cycles():
    first, *_, last = rows_of(output(COUNTED), "NVIDIA H200")
    assert first == IssueSlots("NVIDIA H200", "reduce0", ELEMENTS, 306_315_264, 0.8101)
    assert last == IssueSlots("NVIDIA H200", "warps_agree", ELEMENTS, 999, 1)


def test_the_rows_are_in_the_order_of_the_variants_and_not_of_the_launches():
    backwards = dict(reversed(COUNTED.items()))
    names = [variant.step.name for variant in variants()]
    assert [row.kernel for row in rows_of(output(backwards), "NVIDIA H200")] == names
    assert list(rows_of(output(backwards), "a")) == list(rows_of(output(COUNTED), "a"))


def test_a_kernel_whose_name_has_that_of_another_is_no_launch_of_it():
    longer = COUNTED | {"reduce0_edited": ("7", "1"), "second_pass": ("8", "2")}
    assert list(rows_of(output(longer), "a")) == list(rows_of(output(COUNTED), "a"))


def test_a_kernel_that_the_profiler_did_not_see_is_named():
    seen = {kernel: values for kernel, values in COUNTED.items() if kernel != "reduce2"}
    with pytest.raises(CourseError, match="no launch of reduce2"):
        list(rows_of(output(seen), "NVIDIA H200"))
