"""Other right answers to `device_occupancy`: changes of the solution that `check` accepts."""

from labs.exercises.device_occupancy.wrong import ACTIVE, SHARE

RIGHT = {
    "of the share of a launch": [(ACTIVE, "min(blocks / sms, resident)"),
                                 ("(threads_per_sm * sms)", "threads_per_sm")],
    "two shares": [(SHARE, "active / sms * threads / threads_per_sm")],
    "a test": [(ACTIVE, "blocks if blocks < sms * resident else sms * resident")],
    "the lesser of two shares": [
        (SHARE, "min(blocks * threads / (threads_per_sm * sms), resident * threads / "
         "threads_per_sm)"),
    ],
}  # fmt: skip
