#!/usr/bin/env bash
# Gradescope runs this as root, once, when it builds the autograder: it installs the course.
set -euo pipefail

root=${AUTOGRADER_ROOT:-/autograder}
course=$root/source/course

apt-get update
apt-get install --yes --no-install-recommends bubblewrap python3 python3-venv
if ! python3 -c "import sys; sys.exit(sys.version_info < (3, 11))"; then
    echo "$(python3 --version) is too old: choose a base image with Python 3.11 or later." >&2
    exit 1
fi
python3 -m venv "$root/venv"
"$root/venv/bin/python" -m pip install --quiet --constraint "$course/constraints.txt" \
    --editable "$course"
