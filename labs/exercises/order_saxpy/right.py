"""Other right answers to `order_saxpy`."""

RIGHT = {
    "the list": "order_saxpy = [5, 2, 4, 1]\n",
    "a number that is replaced": "order_saxpy = (3, 5, 2, 4, 1)\n",
    "a kernel": [("scaled = a * x[i]", "scaled = x[i] * a")],
}
