# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""A picture of what test/lab/bench_collectives measured: for each place, collectives by lengths, and in each field how
many times as fast as the best peer hwmc is. Blue: hwmc is faster; orange: it is slower; white: alike."""

import math

import bench_collectives_report as report

WIDTH, HEIGHT = 52, 20  # of a field
LEFT, TOP = 150, 46  # of a panel's fields
COLUMNS = 2  # panels beside each other
GAP = 28
FULL = 2.0  # log2 of the ratio from which on a colour is full
FASTER, SLOWER = (31, 103, 176), (214, 96, 16)
NAMES = {"reduce_scatter_block": "reduce_scatter"}


def colour(ratio):
    """White at 1, full at 4 and 1/4."""
    part = min(abs(math.log2(ratio)) / FULL, 1)
    full = FASTER if ratio > 1 else SLOWER
    return "#%02x%02x%02x" % tuple(round(255 + (channel - 255) * part) for channel in full), part > 0.6


def length_text(size):
    for unit, name in ((1 << 20, " Mi"), (1 << 10, " Ki")):
        if size >= unit:
            return "%g%s" % (size / unit, name)
    return "%d" % size


def text(x, y, words, size=12, anchor="middle", fill="#1a1a1a", weight="normal"):
    return '<text x="%g" y="%g" font-size="%d" text-anchor="%s" fill="%s" font-weight="%s">%s</text>' % (
        x, y, size, anchor, fill, weight, words)


def field(x, y, ratio):
    fill, dark = colour(ratio)
    return ['<rect x="%g" y="%g" width="%d" height="%d" fill="%s" stroke="#d0d0d0" stroke-width="0.5"/>' %
            (x, y, WIDTH, HEIGHT, fill),
            text(x + WIDTH / 2, y + HEIGHT - 6, "%.2f" % ratio if ratio < 10 else "%.1f" % ratio, 11,
                 fill="#ffffff" if dark else "#1a1a1a")]


def panel(results, place, x, y, ops, lengths):
    lines = [text(x + LEFT, y + 16, report.place_text(*place), 14, "start", weight="bold")]
    lines += [text(x + LEFT + (i + 0.5) * WIDTH, y + TOP - 6, length_text(size), 11) for i, size in enumerate(lengths)]
    for row, op in enumerate(ops):
        lines.append(text(x + LEFT - 8, y + TOP + (row + 1) * HEIGHT - 6, NAMES.get(op, op), 12, "end"))
        for cell in results.of_place(place):
            ratio = results.ratio(cell)
            if cell.op == op and ratio:
                at = 0 if op == "barrier" else lengths.index(cell.bytes)
                lines += field(x + LEFT + at * WIDTH, y + TOP + row * HEIGHT, ratio[0])
    return lines


def draw(results):
    """SVG."""
    places = results.places()
    cells = [cell for place in places for cell in results.of_place(place)]
    ops = [op for op in report.OPS if any(cell.op == op for cell in cells)]
    lengths = sorted({cell.bytes for cell in cells if cell.op != "barrier"}) or [0]
    wide = LEFT + len(lengths) * WIDTH + GAP
    high = TOP + len(ops) * HEIGHT + GAP
    rows = (len(places) + COLUMNS - 1) // COLUMNS
    width, height = wide * min(COLUMNS, len(places)), high * rows + 52
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
             'font-family="Helvetica, Arial, sans-serif">' % (width, height, width, height),
             "<!-- SPDX-License-Identifier: BSD-3-Clause -->", "<!-- Copyright (C) the hwmc contributors -->",
             '<rect width="100%" height="100%" fill="#ffffff"/>',
             text(16, 24, "How many times as fast as the faster of MPICH and Open MPI: hwmc's defaults, "
                  "by collective and bytes", 15, "start", weight="bold"),
             text(16, 42, "blue: hwmc is faster; orange: it is slower; the time is that of the slowest rank", 12, "start",
                  fill="#555555")]
    for number, place in enumerate(places):
        lines += panel(results, place, number % COLUMNS * wide, 52 + number // COLUMNS * high, ops, lengths)
    return "\n".join(lines + ["</svg>"]) + "\n"
