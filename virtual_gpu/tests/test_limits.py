"""A launch that is too long or too large ends in a sentence, and a long one shows its progress."""

import io
import re

import numpy as np
import pytest
from numba import cuda, float32

from virtual_gpu import LaunchError, LimitReached, trace
from virtual_gpu.common.limits import LaunchLimits, limits_of
from virtual_gpu.common.progress import ProgressLine


@cuda.jit
def wait_for(flag, out):
    while cuda.atomic.max(flag, 0, 0) == 0:
        pass
    out[cuda.grid(1)] = 1


@cuda.jit
def count_up(out):
    n = 0
    while n >= 0:
        n += 1
        if n < 0:
            out[0] = n


@cuda.jit
def count_to(out, most):
    n = 0
    while n < most:
        n += 1
    out[cuda.grid(1)] = n


def flag_and_result(threads):
    return np.zeros(1, np.int32), np.zeros(threads, np.int32)


def test_threads_that_nobody_can_release_wait_for_ever():
    with pytest.raises(LimitReached, match=r"line .*while.* 32 threads wait for ever"):
        wait_for[1, 32](*flag_and_result(32))
    with pytest.raises(LimitReached, match="128 threads wait for ever"):
        trace(wait_for, 4, 32, *flag_and_result(128))


def test_a_flag_that_is_set_releases_the_threads():
    flag, out = flag_and_result(64)
    flag[0] = 1
    wait_for[2, 32](flag, out)
    assert out.all()


def test_threads_that_wait_for_others_behind_the_loop_are_named_so():
    @cuda.jit
    def consume_first(flag, out):
        if cuda.threadIdx.x > 0:
            while flag[0] == 0:
                pass
        else:
            flag[0] = 1

    with pytest.raises(LimitReached, match=r"3 threads wait in this loop, .* only after it"):
        trace(consume_first, 1, 4, *flag_and_result(4))


def test_a_loop_that_changes_only_a_private_array_goes_on():
    @cuda.jit
    def in_private(out):
        kept = cuda.local.array(1, float32)
        kept[0] = 0
        while kept[0] < 2000:
            kept[0] += 1
        out[cuda.grid(1)] = kept[0]

    out = np.zeros(32)
    in_private[1, 32](out)
    assert set(out) == {2000}


def test_a_loop_that_changes_shared_memory_goes_on():
    @cuda.jit
    def in_shared(out):
        kept = cuda.shared.array(32, float32)
        i = cuda.threadIdx.x
        kept[i] = 0
        while kept[i] < 700:
            kept[i] += 1
        out[i] = kept[i]

    out = np.zeros(32)
    in_shared[1, 32](out)
    assert set(out) == {700}


def test_a_loop_that_threads_leave_one_by_one_goes_on():
    out = np.zeros(64)

    @cuda.jit
    def by_rank(out):
        i = cuda.grid(1)
        n = 0
        while n < i * 10:
            n += 1
        out[i] = n

    by_rank[1, 64](out)
    assert out.tolist() == [10 * i for i in range(64)]


def test_an_endless_loop_that_counts_is_held_to_its_rounds(monkeypatch):
    monkeypatch.setenv("VIRTUAL_GPU_MAX_ROUNDS", "2000")
    with pytest.raises(LimitReached, match="more than 2000 rounds of this loop"):
        count_up[1, 32](np.zeros(1))


def test_rounds_are_counted_for_each_loop_and_not_for_ranges(monkeypatch):
    monkeypatch.setenv("VIRTUAL_GPU_MAX_ROUNDS", "100")
    out = np.zeros(1)

    @cuda.jit
    def nested(out):
        total = 0
        for _ in range(200):
            n = 0
            while n < 50:
                n += 1
            total += n
        out[0] = total

    nested[1, 1](out)
    assert out[0] == 10000


def test_patience_ends_a_launch_and_the_sentence_says_where():
    with pytest.raises(LimitReached, match=r"count_up, line .* more than 0\.2 s; .*patience="):
        trace(count_up, 1, 32, np.zeros(1), patience=0.2)


def test_the_environment_sets_a_time_for_every_launch(monkeypatch):
    monkeypatch.setenv("VIRTUAL_GPU_SECONDS", "0.1")
    with pytest.raises(LimitReached, match=r"more than 0\.1 s"):
        count_up[1, 1](np.zeros(1))


def test_a_loop_without_progress_ends_before_its_rounds(monkeypatch):
    monkeypatch.setattr("virtual_gpu.common.limits.STALLED_SECONDS", 0.2)
    with pytest.raises(LimitReached, match="no thread has left this loop"):
        count_up[1, 32](np.zeros(1))


def test_lane_rounds_are_a_limit_on_their_own(monkeypatch):
    monkeypatch.setenv("VIRTUAL_GPU_LANE_ROUNDS", "5000")
    count_to[1, 32](np.zeros(32), 100)
    with pytest.raises(LimitReached, match="VIRTUAL_GPU_LANE_ROUNDS"):
        count_to[1, 64](np.zeros(64), 100)


def test_who_sets_a_time_is_not_held_to_rounds(monkeypatch):
    assert limits_of().rounds == LaunchLimits().rounds
    assert limits_of(60).rounds is None
    assert limits_of(60).stalled_seconds is None
    monkeypatch.setenv("VIRTUAL_GPU_MAX_ROUNDS", "7")
    assert limits_of(60).rounds == 7


@pytest.mark.parametrize("patience", [0, -1, "long", True, float("nan")])
def test_patience_is_a_positive_number(patience):
    with pytest.raises(LaunchError, match="patience="):
        trace(count_to, 1, 1, np.zeros(1), 1, patience=patience)


def test_a_variable_of_the_environment_that_is_no_number_is_refused(monkeypatch):
    monkeypatch.setenv("VIRTUAL_GPU_SECONDS", "soon")
    with pytest.raises(LaunchError, match="VIRTUAL_GPU_SECONDS is 'soon'"):
        count_to[1, 1](np.zeros(1), 1)


def test_arrays_that_need_more_memory_than_the_limit_are_refused(monkeypatch):
    monkeypatch.setenv("VIRTUAL_GPU_BYTES", "1e6")
    count_to[1, 2](np.zeros(10), 1)
    count_to[1, 1](np.zeros(100_000), 1)  # one thread cannot race, so nothing is kept
    refusal = r"most of it for out, and the limit is 976\.6 KiB; .*VIRTUAL_GPU_BYTES"
    with pytest.raises(LimitReached, match=refusal):
        count_to[1, 2](np.zeros(100_000), 1)


@cuda.jit
def meet(out):
    cuda.cg.this_grid().sync()
    out[0] = 1


def test_a_cooperative_grid_that_no_device_holds_is_refused():
    with pytest.raises(LaunchError, match=r"265 blocks of 1024 threads .* holds 264"):
        meet[265, 1024](np.zeros(1))


def test_dynamic_and_static_shared_memory_leave_room_for_fewer_blocks():
    @cuda.jit
    def meet_with_tile(out):
        tile = cuda.shared.array(8192, float32)
        tile[cuda.threadIdx.x] = 1
        cuda.cg.this_grid().sync()
        out[0] = tile[0]

    meet[132, 32, 0, 40 * 1024](np.zeros(1))
    with pytest.raises(LaunchError, match=r"40960 bytes of shared memory.* holds 660"):
        meet[661, 32, 0, 40 * 1024](np.zeros(1))
    with pytest.raises(LaunchError, match=r"32768 bytes of shared memory.* holds 792"):
        meet_with_tile[793, 32](np.zeros(1))


@pytest.mark.parametrize("bounds", [64, (64,), (64, 2)])
def test_a_block_larger_than_the_launch_bounds_is_refused(bounds):
    @cuda.jit(launch_bounds=bounds)
    def bounded(x):
        x[cuda.grid(1)] = 1

    x = np.zeros(128)
    bounded[2, 64](x)
    assert x.all()
    bounded.forall(128)(x)
    with pytest.raises(LaunchError, match="launch at most 64 threads in a block"):
        bounded[1, 65](x)
    with pytest.raises(LaunchError, match="launch_bounds"):
        trace(bounded, 1, 128, x)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(monkeypatch, stream, *steps, total=4):
    monkeypatch.setattr("sys.stderr", stream)
    line = ProgressLine("kernel", total)
    for done, seconds in steps:
        if seconds > line.due:
            line.show(done, seconds)
    line.erase()
    return stream.getvalue()


def test_a_short_launch_shows_nothing(monkeypatch):
    assert shown(monkeypatch, Terminal(), (1, 1.0), (2, 2.9)) == ""


def test_a_terminal_gets_one_line_that_is_erased(monkeypatch):
    text = shown(monkeypatch, Terminal(), (2, 4.0), (2, 4.2), (3, 6.0))
    assert "kernel: batch 3 of 4, 4.0 s, about 4 s to go" in text
    assert "4.2 s" not in text
    assert "kernel: batch 4 of 4, 6.0 s, about 2 s to go" in text
    assert "\n" not in text
    assert re.search(r"\r +\r$", text)


def test_a_log_gets_lines_that_grow_rarer(monkeypatch):
    seconds = [3.1, 4.0, 6.3, 9.0, 12.7, 24.0, 25.5]
    lines = shown(monkeypatch, io.StringIO(), *((0, s) for s in seconds), total=1).splitlines()
    assert lines == [f"kernel: running for {s} s" for s in (3.1, 6.3, 12.7, 25.5)]


def test_the_progress_line_can_be_switched_off(monkeypatch):
    monkeypatch.setenv("VIRTUAL_GPU_PROGRESS", "0")
    assert shown(monkeypatch, Terminal(), (1, 100.0)) == ""


# --- loops that change memory and never end ---------------------------------------------------


@cuda.jit
def nothing_changes_the_counter(x):
    i = 0
    while i < 10:
        x[cuda.grid(1)] += 1


@cuda.jit
def halved_until_it_is_negative(x):
    half = 16
    while half >= 0:
        x[cuda.grid(1)] += 1
        half //= 2


@cuda.jit
def another_array_is_tested(x, y):
    t = cuda.grid(1)
    while x[t] < 10:
        y[t] += 1


@cuda.jit
def nobody_breaks(x):
    t = cuda.grid(1)
    while True:
        x[t] += 1
        if t > 100:
            break


@pytest.mark.parametrize(
    ("kernel", "named"),
    [
        (nothing_changes_the_counter, "needs: i"),
        (halved_until_it_is_negative, "needs: half"),
        (another_array_is_tested, "needs: t and x"),
        (nobody_breaks, "no thread comes to a break or return"),
    ],
)
def test_a_loop_whose_condition_stays_the_same_ends_at_once(kernel, named):
    arguments = [np.zeros(32, np.int32) for _ in kernel.py_func.__code__.co_varnames[:2]]
    arguments = arguments[: kernel.py_func.__code__.co_argcount]
    for run in (lambda: kernel[1, 32](*arguments), lambda: trace(kernel, 1, 32, *arguments)):
        with pytest.raises(LimitReached, match=f"32 threads stay in this loop for ever.*{named}"):
            run()
    assert arguments[-1].max() <= 64


@cuda.jit
def away_from_the_end(x):
    i = 0
    while i < 10:
        x[cuda.grid(1)] += 1
        i -= 1


@pytest.mark.slow
def test_a_loop_whose_counter_goes_the_wrong_way_ends_in_seconds():
    with pytest.raises(LimitReached, match="no thread has come nearer to the end"):
        away_from_the_end[1, 32](np.zeros(32, np.int32))


@cuda.jit
def until_it_is_small(x, alias):
    done = False
    error = float32(1)
    while not done:
        x[cuda.grid(1)] += 1
        error *= float32(0.9)
        done = error < 0.01
    while x[0] < 60:
        alias[0] += 1


def test_a_loop_ends_that_computes_its_condition_from_what_changes():
    x = np.zeros(1, np.int32)
    until_it_is_small[1, 1](x, x)
    assert x[0] == 60
