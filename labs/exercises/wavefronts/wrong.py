"""Wrong answers to `wavefronts`: what `check` says, and the changes that earn it."""

from labs.exercises.wavefronts.right import DICTIONARY

WORD = "lane % side * stride_x + lane // side * stride_y"
NEW = "        if word not in words:\n            words.append(word)\n"

WRONG = {
    "You count lanes. Lanes that want the same word share it: different words are to be counted.": {
        "lanes for words": [(NEW, "        words.append(word)\n")]},
    "This is the number of banks that are asked. The one with the most different words decides.": {
        "banks": [
            ("return most", "return len([b for b in range(32) if b in [w % 32 for w in words]])")]},
    "This is the number of different words. Those in different banks come together.": {
        "words": [("return most", "return len(words)")]},
    "This is the number of words, shared out evenly to the banks that are asked. The one with the "
    "most decides.": {
        "an even share": [("return most",
             "used = len([b for b in range(32) if b in [w % 32 for w in words]])\n"
             "    return -(-len(words) // used)")]},
    "These are conflicts: the first wavefront is missing.": {
        "conflicts": [("return most", "return most - 1")]},
    "`stride_y` makes no difference to your answers. A warp has several rows of a block with fewer "
    "than 32 columns.": {
        "without ty": [(WORD, "lane % side * stride_x")],
        "the first row": [("range(32):\n        word", "range(side):\n        word")]},
    "`stride_x` makes no difference to your answers. Neighbours in a row differ in `tx`.": {
        "without tx": [(WORD, "lane // side * stride_y")]},
    "`side` makes no difference to your answers: you take every lane for one of the first row.": {
        "one row of 32": [(WORD, "lane * stride_x")]},
    "`tx` and `ty` are exchanged: neighbouring lanes differ in `tx`, `lane % side`.": {
        "tx and ty exchanged": [(WORD, "lane // side * stride_x + lane % side * stride_y")]},
    "Bank 0 is asked for 1 word: 0": {
        "the whole block": [("range(32):\n        word", "range(side * side):\n        word")]},
    "You divide by 32 where the rest is asked for: word w lies in bank w % 32.": {
        "the quotient": [("word % 32", "word // 32")]},
    "These are banks for 16 words, and there are 32.": {"16 banks": [("word % 32", "word % 16")]},
    "You count in bytes. The strides are in words, and a bank is one word wide.": {
        "bytes": [("word % 32", "4 * word % 32")]},
    "This is the number of lanes that want one word. They share it.": {
        "lanes of one word": [(NEW, "        words.append(word)\n"),
            ("return most", "return max(words.count(w) for w in words)")]},
    "This is always 1. Some of these accesses have conflicts.": {
        "always 1": [("return most", "return 1")]},
    "This is always 32. Few of these accesses are so bad.": {
        "always 32": [("return most", "return 32")]},
    "Bank 0 is asked for": {
        "one bank left out": [("for bank in range(32)", "for bank in range(1, 32)")]},
    "1 wavefront is": {"no count": [("most = max(most", "most = min(most")]},
    "returns nothing": {"nothing": [("    return most\n", "")]},
    "You count all threads of the block. A request is that of one warp, 32 lanes.": {
        "all warps": DICTIONARY.replace("range(32)", "range(side * side)")},
}  # fmt: skip
