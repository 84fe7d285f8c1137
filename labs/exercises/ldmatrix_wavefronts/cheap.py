"""Submissions to `ldmatrix_wavefronts` that ignore the idea of the task."""

HEAD = "def ldmatrix_wavefronts(columns):\n"

CHEAP = {
    "always one": HEAD + "    return 1\n",
    "always eight": HEAD + "    return 8\n",
    "the first cases alone": HEAD + "    return columns // 8 if columns < 24 else 1\n",
    "powers of two alone": HEAD + "    return {8: 1, 16: 2, 32: 4, 64: 8, 128: 8}[columns]\n",
    "the columns": HEAD + "    return columns\n",
    "long rows": HEAD + "    return 8 if columns >= 64 else 1\n",
}
