"""A product by a kernel that takes only plain rows with sides divisible by four."""

from labs.host.exercise import HostExercise
from labs.host.padding import examine_padding

EXERCISE = HostExercise(
    name="pad_to_fours",
    lesson="17",
    title="Sides that four divides",
    text=(
        "`fast(a, b)` returns the product of two float32 matrices as a new array. It reads four "
        "words at once, so it takes only matrices in plain rows whose numbers of columns are "
        "multiples of four. The number of rows of a may be any.",
        "Write `pad_to_fours(fast, a, b)`, which returns a·b for matrices of any size and layout. "
        "Copy them into larger arrays, call `fast` once, and return the part that is a·b. Make no "
        "side larger than it has to be. About 6 lines.",
    ),
    hints=(
        "The smallest multiple of four that is at least k is `-(-k // 4) * 4`.",
        "The columns of a and the rows of b have the same number. What must be in the new columns "
        "and rows, so that the sums do not change?",
        "`np.zeros(shape, np.float32)` makes an array in plain rows. `wide[:, :k] = a` copies a "
        "into the first k columns of it.",
    ),
    after="This is what `sgemm` does with sizes that four does not divide: it copies, and copies "
    "take time.",
    parameters=("fast", "a", "b"),
    promises=("right at any size and layout", "one call of `fast`", "no side larger than needed"),
    examine=examine_padding,
)
