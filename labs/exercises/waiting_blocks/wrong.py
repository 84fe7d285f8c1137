"""Wrong answers to `waiting_blocks`: what `check` says, and the changes that earn it."""

SLOTS = "    slots = sms * per_sm\n"
FITS = "    if blocks <= slots:\n        return blocks\n"
LAST = "    return slots - 1\n"
ONE = [(FITS, "")]

WRONG = {
    "If every slot is taken by a block that waits, no other block can start. One slot must stay "
    "free for them.": {
        "the slots": [(LAST, "    return slots\n")],
        "the lesser": [(FITS, ""), (LAST, "    return min(blocks, slots)\n")],
        "the slots, compared": [("<=", "<"), (LAST, "    return slots\n")]},
    "This leaves a slot free in every grid. If each block has a slot of its own, all may wait.": {
        "never all": [*ONE, (LAST, "    return min(blocks, slots) - 1\n")],
        "one less than the blocks": [("return blocks", "return blocks - 1")]},
    "If the grid fits, all of its blocks may wait, and this does not ask whether it fits.": {
        "the slots less one": ONE},
    "A grid that fills all slots leaves nobody without a slot.": {
        "below": [("<=", "<")], "the lesser of both": [*ONE, (LAST,
            "    return min(blocks, slots - 1)\n")]},
    "One more block than slots does not fit: one must wait for a slot.": {
        "one too many": [("<= slots", "<= slots + 1")]},
    "These are the slots of one SM. Blocks on all SMs wait for each other.": {
        "one SM": [(SLOTS, "    slots = per_sm\n")]},
    "This is one block per SM. An SM has room for `per_sm` blocks.": {
        "one per SM": [(SLOTS, "    slots = sms\n")]},
    "Slots are counted per SM: there are `sms` times `per_sm`, not the sum of both.": {
        "the sum": [(SLOTS, "    slots = sms + per_sm\n")]},
    "Each SM gives up a slot here. One free slot on the whole GPU is enough.": {
        "one free slot on each SM": [(LAST, "    return slots - sms\n")]},
    "This lets one block less wait than may: one free slot is enough for all the others, one after "
    "the other.": {"two free slots": [(LAST, "    return slots - 2\n")]},
    "This is what does not fit. The question is how many may wait.": {
        "what is left": [(LAST, "    return blocks - slots\n")]},
    "This lets nobody wait in a grid that does not fit. One of them may, if a slot stays free.": {
        "none": [(LAST, "    return 0\n")]},
    "This lets all blocks wait. If they do not fit, those that wait keep the others from "
    "starting.": {"all": [*ONE, (LAST, "    return blocks\n")]},
    "This is half of the slots. One free slot is enough.": {
        "half": [(LAST, "    return slots // 2\n")]},
    "returns nothing": {"nothing": [("return slots - 1", "slots - 1")]},
    "returns False, and a number is wanted": {
        "a test": [*ONE, (LAST, "    return blocks <= slots\n")]},
    "is not defined": {"a name that is not defined": [(LAST, "    return slot - 1\n")]},
}  # fmt: skip
