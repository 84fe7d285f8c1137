"""A library by columns, called with matrices that are stored by rows."""

from labs.host.column_major import examine_call
from labs.host.exercise import HostExercise

EXERCISE = HostExercise(
    name="call_by_rows",
    lesson="17",
    kind="repair",
    title="A library by columns",
    text=(
        "`call_by_rows(sgemm, a, b, c)` should store a·b in `c`. The three arrays are stored by "
        "rows without gaps: a is m×k, b is k×n, c is m×n. But `sgemm` reads and writes memory "
        "column by column, as cuBLAS does. Repair the call. Change one line, and copy no array.",
        "`sgemm(m, n, k, a, lda, b, ldb, c, ldc)` multiplies its first matrix, m×k, by its second, "
        "k×n, and stores the product, m×n. A leading dimension is the number of words from the "
        "beginning of one column to the beginning of the next.",
    ),
    hints=(
        "The memory of `c` should hold a·b by rows, which is (a·b)ᵀ by columns. Of which two "
        "matrices is this transpose the product, and in which order?",
        "How many rows has that product, and how many columns? The first two arguments say it.",
        "Read by columns, the memory of `b` is bᵀ. One of its columns is a row of `b`: how many "
        "words has it?",
    ),
    after="Nothing was transposed: the library reads each matrix as its transpose anyway.",
    parameters=("sgemm", "a", "b", "c"),
    promises=(
        "right for matrices of any size", "no copy", "no call of `sgemm` for each element",
    ),
    examine=examine_call,
)  # fmt: skip
