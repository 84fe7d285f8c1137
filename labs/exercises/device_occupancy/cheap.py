"""Submissions to `device_occupancy` that ignore the idea of the task."""

HEAD = "import math\n\n\ndef device_occupancy(blocks, resident, threads, threads_per_sm, sms):\n"

CHEAP = {
    "all of it": HEAD + "    return 1\n",
    "of one SM": HEAD + "    return resident * threads / threads_per_sm\n",
    "a constant": HEAD + "    return 0.75\n",
    "as many as are launched": HEAD + "    return blocks * threads / (threads_per_sm * sms)\n",
    "half": HEAD + "    return 0.5\n",
}
