"""Test the table of cycles per block on rows with round figures."""

from reduce_kernels.remainder import IssueSlots, RemainderTime, recorded_slots, recorded_times
from utils.lessons.lesson_18.issue_slots import cycles_table
from utils.machine.devices import REFERENCE, find

H200 = find(REFERENCE)
OTHER = "NVIDIA H100 80GB HBM3"
SHORT, LONG = 256 * 1000, 256 * 4000
CYCLES = 132 * 1980 * 1e3  # cycles of all SMs of an H200 in a millisecond


def time(kernel, elements, cycles, device=REFERENCE):
    """Return the row of a kernel that takes these cycles, summed over all SMs."""
    ms = cycles / CYCLES
    return RemainderTime(device, kernel, elements, ms, ms, ms, 1980, "2026-11-25")


def slots(kernel, instructions, busy, device=REFERENCE):
    return IssueSlots(device, kernel, SHORT, instructions, busy)


def test_a_row_has_the_cycles_of_one_block_at_the_greatest_length():
    assert H200.sms * H200.boost_clock_mhz * 1e3 == CYCLES
    times = [time("reduce1", SHORT, 1e9), time("reduce1", LONG, 4000 * 510)]
    shown = cycles_table(times, [slots("reduce1", 1000 * 4 * 400, 0.8)])
    assert shown.rows == (("reduce1", "400", "80%", "510"),)
    assert len(shown.head) == len(shown.rows[0])


def test_a_block_of_reduce3_has_twice_the_elements():
    kernels = ("reduce2", "reduce3")
    times = [time(kernel, LONG, 4000 * 300) for kernel in kernels]
    shown = cycles_table(times, [slots(kernel, 1000 * 4 * 200, 0.5) for kernel in kernels])
    assert shown.rows == (
        ("reduce2", "200", "50%", "300"),
        ("reduce3", "400", "50%", "600"),
    )


def test_only_kernels_profiled_and_timed_on_the_device_of_the_first_profile_are_shown():
    times = [
        time("without_remainder", LONG, 4e6),
        time("reduce0", LONG, 4e6),
        time("reduce1", LONG, 4e6, OTHER),
    ]
    counted = [
        slots("reduce0", 4_000, 0.5),
        slots("reduce1", 4_000, 0.5),
        slots("without_remainder", 4_000, 0.5, OTHER),
    ]
    shown = cycles_table(times, counted)
    assert [row[0] for row in shown.rows] == ["reduce0"]
    assert H200.name in shown.caption
    assert [row[0] for row in cycles_table(times, counted[::-1]).rows] == []


def test_the_records_have_a_row_per_kernel_and_names_without_underscores():
    shown = cycles_table(recorded_times(), recorded_slots())
    assert [row[0] for row in shown.rows] == [
        "reduce0", "without remainder", "reduce1", "reduce2", "reduce3",
    ]  # fmt: skip
