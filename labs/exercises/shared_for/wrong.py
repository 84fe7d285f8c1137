"""Wrong answers to `shared_for`: what `check` says, and the changes that earn it."""

TAKEN = "233_472 // blocks // 128 * 128"
LAST = "    return taken - 1024 - static_bytes\n"

WRONG = {
    "The 1,024 bytes of the driver are missing. Each block takes them, too.": {
        "no driver": [(LAST, "    return taken - static_bytes\n")]},
    "The 1,024 bytes of the driver are added. They are part of what a block takes, so fewer are "
    "left to ask for.": {
        "added": [(LAST, "    return taken + 1024 - static_bytes\n")]},
    "A block takes a multiple of 128 bytes, and this is not rounded down to one.": {
        "not rounded": [(TAKEN, "233_472 // blocks")]},
    "This is rounded up to a multiple of 128, and then the blocks need more than the SM has.": {
        "rounded up": [(TAKEN, "-(-233_472 // blocks // 128) * 128")]},
    "The driver takes 1,024 bytes of each block's, and not once of the SM's.": {
        "the driver once": [
            (TAKEN, "(233_472 - 1024) // blocks // 128 * 128"),
            (LAST, "    return taken - static_bytes\n")],
        "the driver once, not rounded": [
            (TAKEN, "(233_472 - 1024) // blocks"), (LAST, "    return taken - static_bytes\n")]},
    "This counts 232,448 bytes, the most of one block. The SM has 233,472.": {
        "227 KiB": [(TAKEN, "232_448 // blocks // 128 * 128")]},
    "With this, one block more fits. The most bytes are asked for.": {
        "one block more": [(TAKEN, "233_472 // (blocks + 1) // 128 * 128")]},
    "This is the multiple of 128 above the share of one block more: it is enough to keep that "
    "block out, but more bytes are possible.": {
        "just enough": [(TAKEN, "(233_472 // (blocks + 1) // 128 + 1) * 128")]},
    "This is the same for every number of blocks.": {
        "one block": [(TAKEN, "233_472")], "a constant": [(LAST, "    return 57_344\n")]},
    "These are the bytes of all blocks together. Those of one block are asked for.": {
        "all blocks": [(LAST, "    return (taken - 1024 - static_bytes) * blocks\n")]},
    "These are portions of 128 bytes, and bytes are asked for.": {
        "portions": [(LAST, "    return (taken - 1024 - static_bytes) // 128\n")]},
    "These are float32 words of 4 bytes, and bytes are asked for.": {
        "words": [(LAST, "    return (taken - 1024 - static_bytes) // 4\n")]},
    "This is one unit of 128 bytes less than possible.": {
        "a unit less": [(LAST, "    return taken - 1024 - 128 - static_bytes\n")]},
    "The `static_bytes` of the kernel are missing. A block takes them, too.": {
        "no static bytes": [(LAST, "    return taken - 1024\n")]},
    "The `static_bytes` are added. They are part of what a block takes, so fewer are left to ask "
    "for.": {
        "static bytes added": [(LAST, "    return taken - 1024 + static_bytes\n")]},
    "is whole, and this is not": {
        "a division with a remainder": [(TAKEN, "233_472 / blocks")]},
    "returns nothing": {"nothing": [(LAST, "    taken - 1024 - static_bytes\n")]},
    "is not defined": {
        "a name that is not defined": [(LAST, "    return take - 1024 - static_bytes\n")]},
}  # fmt: skip
