"""Plans are kept by what they depend on, made once, and not without end."""

import threading
import time

from utils.launching.plan import Plans


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
