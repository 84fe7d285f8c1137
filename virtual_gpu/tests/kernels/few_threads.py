"""Launches in which few threads do all the work, for the comparison with Numba's simulator.

The file imports nothing of this project, because the simulator takes the place of numba.cuda.
``WORKLOADS`` maps a name to a function that makes new arguments and returns the launch.
"""

import math

import numpy as np
from numba import cuda, float32


@cuda.jit
def total(x, out):
    """One thread adds up all elements."""
    if cuda.threadIdx.x == 0:
        s = 0.0
        for i in range(x.size):
            s += x[i]
        out[0] = s


@cuda.jit
def match_blocks(rows, columns, sizes, scores, left, right, half, reach):
    """Each thread finds where the surroundings of its pixel are most alike in the other image."""
    edge = half + reach
    i, j = cuda.grid(2)
    if edge <= i < left.shape[0] - edge and edge <= j < left.shape[1] - edge:
        best = -1
        for h in range(half, 3, -1):
            here = left[i - h : i + h + 1, j - h : j + h + 1]
            pixels = (2 * h + 1) * (2 * h + 1)
            for across in range(-reach, reach + 1):
                for down in range(-reach, reach + 1):
                    y, x = i + down, j + across
                    there = right[y - h : y + h + 1, x - h : x + h + 1]
                    mean_here = 0.0
                    mean_there = 0.0
                    for r in range(2 * h + 1):
                        for c in range(2 * h + 1):
                            mean_here += here[r, c]
                            mean_there += there[r, c]
                    mean_here /= pixels
                    mean_there /= pixels
                    product = 0.0
                    square_here = 0.0
                    square_there = 0.0
                    for r in range(2 * h + 1):
                        for c in range(2 * h + 1):
                            a = here[r, c] - mean_here
                            b = there[r, c] - mean_there
                            product += a * b
                            square_here += a * a
                            square_there += b * b
                    score = product / math.sqrt(square_here) / math.sqrt(square_there)
                    if score > best:
                        best = score
                        best_row = down
                        best_column = across
                        best_size = h
        scores[i, j] = best
        rows[i, j] = best_row
        columns[i, j] = best_column
        sizes[i, j] = best_size


@cuda.jit(device=True)
def corners_of(corners, box):
    """Store the four corners of a box (x, y, width, height, angle)."""
    cosine, sine = math.cos(box[4]), math.sin(box[4])
    xs = cuda.local.array(4, float32)
    ys = cuda.local.array(4, float32)
    xs[0] = xs[1] = -box[2] / 2
    xs[2] = xs[3] = box[2] / 2
    ys[0] = ys[3] = -box[3] / 2
    ys[1] = ys[2] = box[3] / 2
    for k in range(4):
        corners[2 * k] = cosine * xs[k] + sine * ys[k] + box[0]
        corners[2 * k + 1] = -sine * xs[k] + cosine * ys[k] + box[1]


@cuda.jit(device=True)
def is_inside(x, y, corners):
    """Return True if a point is in a rectangle."""
    along0, along1 = corners[2] - corners[0], corners[3] - corners[1]
    up0, up1 = corners[6] - corners[0], corners[7] - corners[1]
    at0, at1 = x - corners[0], y - corners[1]
    first = along0 * at0 + along1 * at1
    second = up0 * at0 + up1 * at1
    return (
        along0 * along0 + along1 * along1 >= first
        and first >= 0
        and up0 * up0 + up1 * up1 >= second
        and second >= 0
    )


@cuda.jit(device=True)
def crossing(one, other, i, j, point):
    """Store where side i of one rectangle crosses side j of another; return whether it does."""
    a = cuda.local.array(2, float32)
    b = cuda.local.array(2, float32)
    c = cuda.local.array(2, float32)
    d = cuda.local.array(2, float32)
    a[0], a[1] = one[2 * i], one[2 * i + 1]
    b[0], b[1] = one[2 * ((i + 1) % 4)], one[2 * ((i + 1) % 4) + 1]
    c[0], c[1] = other[2 * j], other[2 * j + 1]
    d[0], d[1] = other[2 * ((j + 1) % 4)], other[2 * ((j + 1) % 4) + 1]
    ab0, ab1 = b[0] - a[0], b[1] - a[1]
    ad0, ad1 = d[0] - a[0], d[1] - a[1]
    ac0, ac1 = c[0] - a[0], c[1] - a[1]
    acd = ad1 * ac0 > ac1 * ad0
    bcd = (d[1] - b[1]) * (c[0] - b[0]) > (c[1] - b[1]) * (d[0] - b[0])
    if acd != bcd:
        abc = ac1 * ab0 > ab1 * ac0
        abd = ad1 * ab0 > ab1 * ad0
        if abc != abd:
            cd0, cd1 = d[0] - c[0], d[1] - c[1]
            first = a[0] * b[1] - b[0] * a[1]
            second = c[0] * d[1] - d[0] * c[1]
            below = ab1 * cd0 - ab0 * cd1
            point[0] = (first * cd0 - ab0 * second) / below
            point[1] = (first * cd1 - ab1 * second) / below
            return True
    return False


@cuda.jit(device=True)
def common_corners(one, other, points):
    """Store the corners of what two rectangles have in common; return their number."""
    count = 0
    for k in range(4):
        if is_inside(one[2 * k], one[2 * k + 1], other):
            points[2 * count] = one[2 * k]
            points[2 * count + 1] = one[2 * k + 1]
            count += 1
        if is_inside(other[2 * k], other[2 * k + 1], one):
            points[2 * count] = other[2 * k]
            points[2 * count + 1] = other[2 * k + 1]
            count += 1
    point = cuda.local.array(2, float32)
    for i in range(4):
        for j in range(4):
            if crossing(one, other, i, j, point):
                points[2 * count] = point[0]
                points[2 * count + 1] = point[1]
                count += 1
    return count


@cuda.jit(device=True)
def sort_by_angle(points, count):
    """Sort points around their center."""
    if count > 0:
        center = cuda.local.array(2, float32)
        center[:] = 0.0
        for k in range(count):
            center[0] += points[2 * k]
            center[1] += points[2 * k + 1]
        center[0] /= count
        center[1] /= count
        v = cuda.local.array(2, float32)
        keys = cuda.local.array(16, float32)
        for k in range(count):
            v[0] = points[2 * k] - center[0]
            v[1] = points[2 * k + 1] - center[1]
            length = math.sqrt(v[0] * v[0] + v[1] * v[1])
            v[0] = v[0] / length
            v[1] = v[1] / length
            if v[1] < 0:
                v[0] = -2 - v[0]
            keys[k] = v[0]
        for k in range(1, count):
            if keys[k - 1] > keys[k]:
                key, x, y = keys[k], points[2 * k], points[2 * k + 1]
                j = k
                while j > 0 and keys[j - 1] > key:
                    keys[j] = keys[j - 1]
                    points[2 * j] = points[2 * j - 2]
                    points[2 * j + 1] = points[2 * j - 1]
                    j -= 1
                keys[j] = key
                points[2 * j] = x
                points[2 * j + 1] = y


@cuda.jit(device=True)
def triangle(a, b, c):
    """Return the area of a triangle, with a sign."""
    return ((a[0] - c[0]) * (b[1] - c[1]) - (a[1] - c[1]) * (b[0] - c[0])) / 2.0


@cuda.jit(device=True)
def area(points, count):
    """Return the area of a polygon."""
    result = 0.0
    for k in range(count - 2):
        result += abs(
            triangle(points[:2], points[2 * k + 2 : 2 * k + 4], points[2 * k + 4 : 2 * k + 6])
        )
    return result


@cuda.jit(device=True)
def overlap(one, other):
    """Return the common area of two boxes as a part of their area together."""
    corners1 = cuda.local.array(8, float32)
    corners2 = cuda.local.array(8, float32)
    points = cuda.local.array(16, float32)
    corners_of(corners1, one)
    corners_of(corners2, other)
    count = common_corners(corners1, corners2, points)
    sort_by_angle(points, count)
    common = area(points, count)
    return common / (one[2] * one[3] + other[2] * other[3] - common)


@cuda.jit
def rotated_iou(n, m, boxes, queries, out):
    """Each thread compares one box with all queries."""
    row_start, column_start, t = cuda.blockIdx.x, cuda.blockIdx.y, cuda.threadIdx.x
    rows = min(n - row_start * 64, 64)
    columns = min(m - column_start * 64, 64)
    block_boxes = cuda.shared.array(64 * 5, float32)
    block_queries = cuda.shared.array(64 * 5, float32)
    if t < columns:
        for k in range(5):
            block_queries[t * 5 + k] = queries[(64 * column_start + t) * 5 + k]
    if t < rows:
        for k in range(5):
            block_boxes[t * 5 + k] = boxes[(64 * row_start + t) * 5 + k]
    cuda.syncthreads()
    if t < rows:
        for i in range(columns):
            at = row_start * 64 * m + column_start * 64 + t * m + i
            out[at] = overlap(block_queries[i * 5 : i * 5 + 5], block_boxes[t * 5 : t * 5 + 5])


def sum_of_one_thread():
    """Return the launch of one thread that adds up 20,000 elements."""
    x = np.random.default_rng(0).random(20_000, np.float32)
    return total, 1, 1, (x, np.zeros(1))


def blocks_of_two_images():
    """Return the launch of 64 threads that match blocks of two images of 22 by 22 pixels."""
    rng, size = np.random.default_rng(1), 22
    images = [rng.random((size, size), np.float32) for _ in range(2)]
    results = [np.zeros((size, size), np.float32) for _ in range(4)]
    return match_blocks, (2, 2), (16, 16), (*results, *images, 5, 2)


def overlaps_of_boxes():
    """Return the launch of 10 threads that compare rotated boxes with 8 others."""
    rng, boxes = np.random.default_rng(2), []
    for count in (10, 8):
        parts = rng.random((count, 2)) * 4, 1 + rng.random((count, 2)) * 3, rng.random((count, 1))
        boxes.append(np.concatenate(parts, axis=1).astype(np.float32).ravel())
    return rotated_iou, 1, 64, (10, 8, *boxes, np.zeros(80, np.float32))


WORKLOADS = {
    "one thread, 20,000 elements": sum_of_one_thread,
    "block matching, 64 threads": blocks_of_two_images,
    "rotated boxes, 10 threads": overlaps_of_boxes,
}
