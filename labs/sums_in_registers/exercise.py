"""Sixteen sums of a thread, which a run-time loop bound has put into memory."""

from labs.products import Split, loads_per_multiply_add, matrix_product
from labs.registers import no_local_memory
from labs.targets import no_float64, one_store_per_element, sectors_per_request

EXERCISE = matrix_product(
    Split(block=(32, 8), columns=16),
    name="sums_in_registers",
    lesson="16",
    title="Sixteen sums in registers",
    text=("x",),
    shapes=((16, 1024, 6), (9, 530, 20), (17, 19, 23), (3, 600, 5), (1, 1, 1)),
    targets=(
        one_store_per_element(),
        no_float64(),
        sectors_per_request(4),
        loads_per_multiply_add(1.0625),
        no_local_memory(),
    ),
    hints=("x",),
    after="x",
)
