"""Each way to time a device has its row of dots."""

from labs.exercises import find
from utils.lessons.lesson_01 import own_timings
from utils.measuring.queue_model import ModelDevice, Speeds


def test_hot_launches_a_pause_and_each_benchmark_have_a_row():
    device = ModelDevice(Speeds(0.3, 8e-6, 2e-3, 1.2e-3, 1.5e-3, noise=(1.0,)))
    device.n = 64
    device.launch()
    drawn, shown = own_timings.draw_ways(device, ours=find("benchmark").solution).parts
    assert ". hot: median 1.21 ms" in drawn.alt
    assert "hot, after a pause: median 1.21 ms" in drawn.alt
    assert "ours, cold: median 2.01 ms" in drawn.alt
    dots = 2 * own_timings.REPETITIONS + 15
    assert drawn.body.count("<circle") == dots + 1  # and the legend
    assert shown.rows[-1] == ("ours, cold", "2.01", "2.01–2.01", "0.3")


def test_a_benchmark_that_times_all_launches_at_once_has_one_dot():
    device = ModelDevice(Speeds(0.3, 8e-6, 2e-3, 1.2e-3, 1.5e-3, noise=(1.0,)))
    device.n = 64
    device.launch()

    def together(device, m, n, k):
        device.synchronize()
        start = device.now()
        for _ in range(10):
            device.launch()
        device.synchronize()
        return 2 * m * n * k / (device.now() - start) / 1e8

    drawn, _ = own_timings.draw_ways(device, yours=together).parts
    assert "yours, cold: 1.2 ms, once" in drawn.alt
