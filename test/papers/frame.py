# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""What the figures of all papers share: rows that are kept, pictures, judgements, and the page.

A module paper_NNN has PAPER, a Paper with its figures in the paper's order. A figure is one of

  Figure     measure(ctx) returns rows, which are kept as docs/papers/NNN-NAME.csv; draw(rows) returns
             a gnuplot script for the picture beside it, docs/papers/NNN-NAME.svg; judge(rows) returns
             claims. draw and judge see kept rows only, so that the page can be made again from them.
  Structure  a diagram or a list of the paper, of which nothing can be measured: where hwmc has the same.

Rows are dictionaries with the same keys; kept values are text, and number() makes floats of them.
"""

import csv
import hashlib
import io
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
LICENCE = ("SPDX-License-Identifier: BSD-3-Clause", "Copyright (C) the hwmc contributors")
# Colours that differ for the colour-blind and in grey (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#666666", "#e69f00", "#56b4e9", "#cc79a7", "#b8a000", "#009e73")


class PaperError(Exception):
    """A message for the user, and the exit status."""

    def __init__(self, text, status=1):
        super().__init__(text)
        self.status = status


@dataclass
class Claim:
    """Something that the paper's figure shows, whether ours does too, and what in our rows says so.

    why: of a claim that does not hold, the cause, with the figures in the rows that show it.
    """

    holds: bool
    text: str
    why: str = ""


@dataclass
class Figure:
    name: str  # of its files: "fig4"
    title: str  # of the paper's: "Figure 4, latency against size of the communicator"
    shows: str  # what the paper's shows, a sentence
    how: str  # how ours is made, a sentence
    measure: object
    draw: object
    judge: object
    seconds: int = 60  # about what measure takes, at most


@dataclass
class Structure:
    name: str
    title: str
    shows: str
    ours: str  # a sentence
    where: tuple = ()  # files that the sentence names


@dataclass
class Paper:
    number: str  # "001"
    citation: str
    figures: list = field(default_factory=list)


# Rows

def number(text):
    return float(text) if text not in ("", None) else float("nan")


def select(rows, **wanted):
    """The rows whose values are those, compared as text."""
    return [row for row in rows if all(row[key] == str(value) for key, value in wanted.items())]


def points(rows, x, y, **wanted):
    """{x: y} of the selected rows, in the order of x."""
    return dict(sorted((number(row[x]), number(row[y])) for row in select(rows, **wanted)))


def middle(repeats):
    """Of samples in several repeats: the median of all, and their quartiles."""
    every = sorted(sample for samples in repeats for sample in samples)
    return statistics.median(every), every[len(every) // 4], every[(3 * len(every) - 1) // 4]


def median_interval(values):
    """Between which of the values their median is with 95 %, by the binomial distribution; of few, all."""
    every, tail, below = sorted(values), 0.0, 0
    for k in range(len(every) // 2):
        tail += math.comb(len(every), k) * 0.5 ** len(every)
        if tail > 0.025:
            break
        below = k
    return every[below], every[-1 - below]


def slope(pairs):
    """Of the line with the least squares through {x: y}."""
    xs, ys = list(pairs), list(pairs.values())
    mean_x, mean_y = statistics.mean(xs), statistics.mean(ys)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / sum((x - mean_x) ** 2 for x in xs)


def spread(rows, **wanted):
    """Of a row with low and high: the quartiles, as text."""
    row, = select(rows, **wanted)
    return "%s to %s" % (row["low"], row["high"])


def size_text(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return "%g %s" % (size / unit, name)
    return "%g B" % size


# Files of a figure

class Shelf:
    """The folder with kept rows and pictures, and the page above it."""

    def __init__(self, docs=TOP / "docs"):
        self.page = docs / "papers.md"
        self.folder = docs / "papers"

    def rows_path(self, paper, figure):
        return self.folder / ("%s-%s.csv" % (paper.number, figure.name))

    def picture_path(self, paper, figure):
        return self.folder / ("%s-%s.svg" % (paper.number, figure.name))

    def keep(self, paper, figure, rows, setting):
        if not rows:
            raise PaperError("%s %s: no rows" % (paper.number, figure.name))
        self.folder.mkdir(parents=True, exist_ok=True)
        out = io.StringIO()
        out.write("".join("# %s\n" % line for line in LICENCE + (setting,)))
        table = csv.DictWriter(out, rows[0].keys(), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
        write(self.rows_path(paper, figure), out.getvalue())

    def kept(self, paper, figure):
        """(rows, setting), or None where there are none."""
        path = self.rows_path(paper, figure)
        if not path.exists():
            return None
        lines = path.read_text(encoding="utf-8").splitlines()
        return list(csv.DictReader(lines[3:])), lines[2].removeprefix("# ")

    def draw(self, paper, figure, rows):
        """Make the picture of rows. It says of which, so that one of other rows is noticed."""
        if not shutil.which("gnuplot"):
            raise PaperError("no gnuplot: apt-get install gnuplot-nox")
        done = subprocess.run(["gnuplot"], input=figure.draw(rows), capture_output=True, text=True, check=False)
        if done.returncode != 0 or "<svg" not in done.stdout:
            raise PaperError("%s %s: gnuplot: %s" % (paper.number, figure.name, done.stderr.strip()))
        head, rest = done.stdout.split("<svg", 1)
        notes = LICENCE + (self.origin(paper, figure),)
        svg = head + "".join("<!-- %s -->\n" % note for note in notes) + "<svg" + rest
        write(self.picture_path(paper, figure), re.sub(r"[ \t]+$", "", svg, flags=re.M))

    def origin(self, paper, figure):
        path = self.rows_path(paper, figure)
        return "rows: %s, SHA-256 %s" % (path.name, hashlib.sha256(path.read_bytes()).hexdigest()[:16])


def write(path, text):
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.rename(path)


# Pictures

def data(name, pairs):
    """A block of data for gnuplot: lines of x y [low high ...]."""
    lines = [" ".join("%.10g" % value for value in line) for line in pairs]
    return "$%s << END\n%s\nEND\n" % (name, "\n".join(lines))


def script(title, *lines, width=760, height=420):
    """A script for gnuplot that begins as all do."""
    begin = ["set terminal svg size %d, %d font 'Helvetica,13' background '#ffffff'" % (width, height),
             "set border 3 lw 1.2 lc rgb '#444444'", "set tics nomirror out",
             "set grid back dt 1 lc rgb '#e4e4e4' lw 1",
             "set key outside right top vertical Left reverse samplen 2 spacing 1.2",
             'set title "%s" font ",14"' % title]
    begin += ["set linetype %d lc rgb '%s' lw 2 pt %d ps 0.8" % (i + 1, colour, 5 + 2 * i if i < 4 else i)
              for i, colour in enumerate(COLOURS)]
    return "\n".join(begin + list(lines)) + "\n"


def curves(title, series, *lines, **size):
    """A script for one picture: series is [(title, [(x, y[, low, high]), ...])]; lines set axes."""
    blocks, plots = [], []
    for i, (name, pairs) in enumerate(series):
        if not pairs:
            continue
        blocks.append(data("d%d" % i, pairs))
        how = "with yerrorlines" if len(pairs[0]) == 4 else "with linespoints"
        plots.append("$d%d %s lt %d title \"%s\" noenhanced" % (i, how, i + 1, name))
    return "".join(blocks) + script(title, *lines, "plot " + ", ".join(plots), **size)


def bytes_axis(sizes):
    ticks = ", ".join("'%s' %d" % (size_text(size).removesuffix("B").strip(), size) for size in sizes)
    return "set logscale x 2\nset xlabel 'bytes'\nset xtics (%s)" % ticks


# The page

INTRODUCTION = """\
<!-- SPDX-License-Identifier: BSD-3-Clause -->
<!-- Copyright (C) the hwmc contributors -->
# The figures of the papers, measured again

hwmc implements what five papers describe. This page has each of their figures and tables beside a measurement of ours.
`make papers` runs the measurements and writes the page; `make papers ONLY=001` those of one paper, `ONLY=001,fig4` one
figure, and `PAPERS=--quick` fewer repeats. Rows and pictures are in `docs/papers`; the page follows from the rows alone.

The papers' machines had a host, an adapter and a switch of its own for each process. Ours are hosts of the lab
(`test/lab/lab`), namespaces that share the processors of one machine, and the simulator (`docs/simulator.md`). So times
cannot be compared, shapes can. *The same shape* means that every claim below the picture holds in the kept rows. Where a
claim does not, the cause follows, with the figures that show it.
"""


def verdict(claims):
    held = sum(claim.holds for claim in claims)
    return "yes" if held == len(claims) else "%d of %d claims" % (held, len(claims))


def figure_lines(paper, figure, shelf):
    """(the word for the overview, lines of the page)."""
    lines = ["", "### %s" % figure.title, ""]
    if isinstance(figure, Structure):
        return "structure", lines + ["*Theirs:* %s" % figure.shows, "", "*Ours:* %s" % figure.ours]
    kept = shelf.kept(paper, figure)
    if kept is None:
        return "not measured", lines + ["*Theirs:* %s" % figure.shows, "", "*Ours:* not measured yet."]
    rows, setting = kept
    claims = figure.judge(rows)
    lines += ["![%s](papers/%s)" % (figure.title, shelf.picture_path(paper, figure).name), "",
              "*Theirs:* %s" % figure.shows, "",
              "*Ours:* %s %s Rows: [%s](papers/%s)." %
              (figure.how, setting, shelf.rows_path(paper, figure).name, shelf.rows_path(paper, figure).name), "",
              "*The same shape:* %s." % verdict(claims), ""]
    for claim in claims:
        lines.append("- %s: %s%s" % ("holds" if claim.holds else "**does not hold**", claim.text,
                                     "" if claim.holds else " *Cause:* " + claim.why))
    return verdict(claims), lines


def page(papers, shelf):
    """The text of the page, from kept rows."""
    overview = ["", "| paper | figure | the same shape |", "|---|---|---|"]
    body = []
    for paper in papers:
        body += ["", "## %s" % paper.number, "", paper.citation]
        for figure in paper.figures:
            word, lines = figure_lines(paper, figure, shelf)
            overview.append("| %s | %s | %s |" % (paper.number, figure.title, word))
            body += lines
    return INTRODUCTION + "\n".join(overview + [wrapped(line) for line in body]) + "\n"


def wrapped(line):
    """As long lines as other pages have; headings and pictures stay whole."""
    if line.startswith(("#", "!")):
        return line
    return textwrap.fill(line, 120, subsequent_indent="  " if line.startswith("- ") else "", break_long_words=False,
                         break_on_hyphens=False)


def machine():
    """What figures depend on and the settings do not say."""
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"^model name\s*: (.*)$", text, re.M)
    return "%d x %s, Linux %s" % (len(os.sched_getaffinity(0)), model[1] if model else "unknown processor",
                                  os.uname().release)
