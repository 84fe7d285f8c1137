"""Time sums of 4 Mi floats with one and two launches, and the parts that they are made of.

    python -m tools.records.single_launch single-launch --record

needs a CUDA device. ``data/README.md`` describes a row.
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import cycle

import numpy as np
from numba import cuda, uint32

from labs import EXERCISES
from labs.checking import variants
from reduce_kernels import LADDER, reduce
from reduce_kernels.parts.operations import SUM_OF_FLOAT32
from reduce_kernels.parts.trees import across_block
from reduce_kernels.parts.wide_loads import total_of_thread
from utils.division import cdiv
from utils.errors import CourseError
from utils.ladder.libraries import Execution
from utils.ladder.problems import draw
from utils.ladder.shapes import ReduceShape
from utils.launching import arrays, driver
from utils.launching.plan import LaunchPlan
from utils.launching.slots import Slot
from utils.launching.workspace import WorkspaceLayout
from utils.machine import devices
from utils.machine.devices import KIB
from utils.measuring.as_called import compared
from utils.measuring.command_line import main
from utils.measuring.experiment import Experiment
from utils.measuring.kernel_times import LaunchTime
from utils.measuring.measure import L2_TIMES
from utils.measuring.timing import MOST_LAUNCHES, time_gpu

ELEMENTS = 2**22
BLOCK, TURNS = 1024, 1  # those of `reduce` for a short array
TICKET_BLOCK = 64  # threads per block of the exercise `ticket`
LOOP = """        for j in range(cuda.threadIdx.x, partials.size, BLOCK):
            total += partials[j]
"""


@dataclass(frozen=True)
class Way:
    """One way to do the work, before it is timed; its name is its key in `ways()`.

    bind: a function of (x, out), device arrays, that returns a function without arguments which
    enqueues the work. launches: the number of kernels that it launches. is_sum: True if out[0] is
    then the sum of x.
    """

    bind: Callable[[object, object], Execution]
    launches: int
    is_sum: bool = True


@cuda.jit
def empty(x, out):
    pass


@cache
def build_without_sum(BLOCK, TURNS):
    """Return `reduce9` whose last block adds no partial sums: it stores its own block's sum."""
    read = total_of_thread(SUM_OF_FLOAT32, BLOCK, TURNS)
    across = across_block(SUM_OF_FLOAT32, BLOCK)

    @cuda.jit
    def reduce9_without_sum(x, partials, drawn, out):
        ticket = cuda.shared.array(1, uint32)
        last = uint32(cuda.gridDim.x) - uint32(1)
        total = across(read(x))
        if cuda.threadIdx.x == 0:
            partials[cuda.blockIdx.x] = total
            cuda.threadfence()
            ticket[0] = cuda.atomic.inc(drawn, 0, last)
        cuda.syncthreads()
        if ticket[0] == last:
            cuda.threadfence()
            if cuda.threadIdx.x == 0:
                out[0] = total

    return reduce9_without_sum


def ways() -> dict[str, Way]:
    """Return a dict from the name of a row to the way that it times, in the order of the rows."""
    text = EXERCISES["ticket"].solution_text
    assert text.count(LOOP) == 1
    ticket = variants.function_in("ticket", text)
    without_sum = variants.function_in("ticket", text.replace(LOOP, ""))
    return {
        "empty": Way(_empty, 1, is_sum=False),
        "reduce7": Way(partial(_step, "reduce7", {}), 2),
        "reduce8": Way(partial(_step, "reduce8", _CONSTANTS), 2),
        "reduce8 first launch": Way(partial(_first_launch, "reduce8"), 1, is_sum=False),
        "reduce9": Way(partial(_step, "reduce9", _CONSTANTS), 1),
        "reduce9 without sum": Way(_without_sum, 1, is_sum=False),
        "reduce_atomic": Way(partial(_step, "reduce_atomic", _CONSTANTS), 2),
        "reduce_atomic without zero": Way(partial(_last_launch, "reduce_atomic"), 1, is_sum=False),
        "reduce_cooperative": Way(partial(_step, "reduce_cooperative", {}), 1),
        "ticket": Way(partial(_ticket, ticket), 1),
        "ticket without sum": Way(partial(_ticket, without_sum), 1, is_sum=False),
        "reduce": Way(lambda x, out: partial(reduce, x, out=out), 1),
        "plan of reduce8": Way(partial(_planned, "reduce8"), 2),
        "plan of reduce9": Way(partial(_planned, "reduce9"), 1),
    }


_CONSTANTS = {"BLOCK": BLOCK, "TURNS": TURNS}


def _empty(x, out) -> Execution:
    """Return a function () that launches the kernel `empty` with the grid of `reduce9`."""
    blocks = LADDER.step("reduce9").variant(**_CONSTANTS).launch(ReduceShape(x.size)).blocks
    return partial(empty[blocks, BLOCK], x, out)


def _step(name: str, constants: dict[str, int], x, out) -> Execution:
    """Return a function () that launches all kernels of the ladder's step called `name`."""
    return LADDER.step(name).variant(**constants).execution(ReduceShape(x.size), (x,), out)


def _first_launch(name: str, x, out) -> Execution:
    """Return a function () that launches only the first kernel of a step; `name` is the step's."""
    return LADDER.step(name).variant(**_CONSTANTS).calls(ReduceShape(x.size), (x,), out)[0].bound()


def _last_launch(name: str, x, out) -> Execution:
    """Return a function () that launches only the last kernel of a step; `name` is the step's."""
    return LADDER.step(name).variant(**_CONSTANTS).calls(ReduceShape(x.size), (x,), out)[-1].bound()


def _without_sum(x, out) -> Execution:
    """Return a function () that launches `reduce9` without the sum in its last block."""
    blocks = LADDER.step("reduce9").variant(**_CONSTANTS).launch(ReduceShape(x.size)).blocks
    own = cuda.device_array(blocks, np.float32), cuda.to_device(np.zeros(1, np.uint32))
    return partial(build_without_sum(BLOCK, TURNS)[blocks, BLOCK], x, *own, out)


def _ticket(kernel, x, out) -> Execution:
    """Return a function () that launches `kernel`, a version of `ticket`, on x and out.

    The launch is that of the exercise `ticket`, with new memory for its partial sums and counter.
    """
    blocks = cdiv(x.size, TICKET_BLOCK)
    own = cuda.device_array(blocks, np.float32), cuda.to_device(np.zeros(1, np.uint32))
    return partial(kernel[blocks, TICKET_BLOCK], x, *own, out)


def _planned(name: str, x, out) -> Execution:
    """Return a function () that launches a step as `reduce` does: from packed arguments.

    So no call goes through Numba. name: the step's name in the ladder.
    """
    layout, slot = WorkspaceLayout(first=2), arrays.slot_of(x, 0).ravel()
    step = LADDER.step(name).variant(**_CONSTANTS)
    calls = step.calls(ReduceShape(x.size), (slot,), Slot.new(1, (1,), np.float32), layout.allocate)
    run = LaunchPlan(calls, 2, 0, layout).ready(driver.device())
    return partial(run, (arrays.look(x)[0], arrays.look(out)[0]), (), 0, (x, out))


def measured(device: str) -> Iterator[LaunchTime]:
    """Yield the times of each way, in the order of `ways`; the repetitions are interleaved.

    device: its name, for the rows. Raises CourseError if a sum is wrong.
    """
    host, out = draw("uniform", (ELEMENTS,), 1), cuda.device_array(1, np.float32)
    l2_bytes = devices.find(device).l2_kib * KIB
    copies = min(MOST_LAUNCHES, cdiv(L2_TIMES * l2_bytes, host.nbytes))
    inputs = [cuda.to_device(host) for _ in range(copies)]
    timed = ways()
    bound = {name: [way.bind(x, out) for x in inputs] for name, way in timed.items()}
    for name, way in timed.items():
        _verify(name, way, bound[name][0], host, out)
    cold = time_gpu([_cycling(each) for each in bound.values()])
    hot = time_gpu([each[0] for each in bound.values()])
    called = compared({name: each[0] for name, each in bound.items()}, random.Random(1))
    for (name, way), timing, again in zip(timed.items(), cold, hot, strict=True):
        yield LaunchTime(
            device, name, ELEMENTS, way.launches, timing.median_ms, timing.min_ms, timing.max_ms,
            again.median_ms, called[name].host_us, called[name].time_us, timing.sm_clock_mhz,
            datetime.date.today().isoformat(),
        )  # fmt: skip


def _verify(name: str, way: Way, execute: Execution, host: np.ndarray, out) -> None:
    """Raise CourseError unless `execute` stores the sum of `host` in out, if the way is a sum."""
    out.copy_to_device(np.full(1, np.nan, np.float32))
    execute()
    if way.is_sum and not np.allclose(out.copy_to_host()[0], host.sum(dtype=np.float64), rtol=1e-4):
        raise CourseError(f"The sum of {name} is wrong, so nothing is recorded.")


def _cycling(executions: Sequence[Execution]) -> Execution:
    """Return a function () that calls one of `executions`: the next one each time, in a cycle."""
    upcoming = cycle(executions)
    return lambda: next(upcoming)()


EXPERIMENT = Experiment(
    name="single-launch",
    help="time sums with one and two launches, and their parts",
    row=LaunchTime,
    size="elements",
    measured=measured,
    figures=(
        ("cold ms", "time_ms"), ("hot ms", "hot_ms"), ("host us", "host_us"), ("call us", "call_us")
    ),
)  # fmt: skip

if __name__ == "__main__":
    raise SystemExit(main("Sums with one and two launches", (EXPERIMENT.command(),)))
