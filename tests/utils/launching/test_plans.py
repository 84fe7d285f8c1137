"""Plans are kept by key, made once, and limited in number."""

import contextlib
import gc
import threading
import time
import weakref

from numba import cuda

from utils.ladder.step import Call, Launch
from utils.launching import driver, numba_kernels
from utils.launching.plan import LaunchPlan, Plans
from utils.launching.slots import Factor
from utils.launching.workspace import WorkspaceLayout


def test_the_oldest_plan_goes_first():
    plans = Plans(most=3)
    for key in range(5):
        assert plans.made(key, lambda: object()) is plans.get(key)
    assert [plans.get(key) is not None for key in range(5)] == [False, False, True, True, True]
    assert len(plans) == 3


def test_threads_that_ask_at_once_get_one_plan():
    plans, made, got = Plans(), [], []

    def make():
        made.append(1)
        time.sleep(0.05)
        return object()

    def ask():
        got.append(plans.made("key", make))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert set(got) == {plans.get("key")}


def test_a_plan_keeps_its_kernels_loaded(monkeypatch):
    monkeypatch.setattr(numba_kernels, "loaded", lambda kernel, arguments: 4096)
    monkeypatch.setattr(driver, "present", lambda: True)
    monkeypatch.setattr(driver, "outside_captures", contextlib.nullcontext)
    kernel = cuda.jit(lambda factor: None)
    call = Call(kernel, Launch(grid=(1,), block=(1,)), (Factor(0),))
    run = LaunchPlan((call,), 0, 1, WorkspaceLayout(first=0)).ready(device=0)
    kept = weakref.ref(kernel)
    del kernel, call
    gc.collect()
    assert kept() is not None
    del run
    gc.collect()
    assert kept() is None
