# SPDX-License-Identifier: BSD-3-Clause
# Copyright (C) the hwmc contributors
"""Text as the tools print it, and Markdown as the documents have it, as sources of manual pages."""

import re

CELL = re.compile(r"(?<!\\)\|")
RULE = re.compile(r"\|[-:| ]+\|")


def escape(text):
    """Text that roff prints as it is."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text)


def inline(text):
    """Markdown within a paragraph: `code` and **bold**, *emphasis*, links by their text."""
    parts = re.split(r"(`[^`]+`)", text)
    out = []
    for part in parts:
        if part.startswith("`") and len(part) > 2:
            out.append("\\fB%s\\fR" % escape(part[1:-1]))
            continue
        part = re.sub(r"\[([^]]+)\]\(([^)]+)\)", r"\1", part)
        part = escape(part)
        part = re.sub(r"\*\*([^*]+)\*\*", r"\\fB\1\\fR", part)
        out.append(re.sub(r"(?<!\w)\*([^*]+)\*(?!\w)", r"\\fI\1\\fR", part))
    return re.sub(r"^([.'])", r"\\&\1", "".join(out))


def literal(lines):
    """Lines that are shown as they stand."""
    return [".PP", ".RS 4", ".nf"] + [escape(line) for line in lines] + [".fi", ".RE"]


def item(head, body):
    """A word and what it means."""
    return [".TP", "\\fB%s\\fR" % escape(head), body]


def table(rows):
    """A table by rows: what the first column names, then the others."""
    out = []
    names = [cell.strip() for cell in CELL.split(rows[0])[1:-1]]
    for row in rows[2:]:
        cells = [cell.strip() for cell in CELL.split(row)[1:-1]]
        rest = [inline(cell if not name or len(cells) == 2 else "%s: %s" % (name, cell))
                for name, cell in zip(names[1:], cells[1:]) if cell]
        out += [".TP", "\\fB%s\\fR" % inline(cells[0].replace("`", "")), "; ".join(rest) or "\\&"]
    return out


def blocks(text):
    """Groups of lines of Markdown between empty ones; lines that are indented stay together over empty ones."""
    group = []
    for line in text.splitlines() + ["", "end"]:
        code = bool(group) and group[0].startswith("    ")
        if group and (line and not line.startswith("    ") if code else not line):
            while not group[-1]:
                group.pop()
            yield group
            group = []
        if (line or group) and not line.startswith("<!--"):
            group.append(line)


def markdown(text, level=2):
    """Roff of a document. A heading of more than `level` marks is a subsection."""
    out = []
    for group in blocks(text):
        first = group[0]
        heading = re.match(r"(#+) +(.*)", first)
        if heading:
            macro = ".SS" if len(heading[1]) >= level else ".SH"
            out.append("%s %s" % (macro, inline(heading[2])))
        elif first.startswith("!["):
            continue
        elif first.startswith("    "):
            out += literal([line[4:] for line in group])
        elif first.startswith("|") and len(group) > 1 and RULE.fullmatch(group[1].strip()):
            out += table(group)
        elif re.match(r"(- |\d+\. )", first):
            for point in re.split(r"\n(?=- |\d+\. )", "\n".join(group)):
                mark, words = point.split(" ", 1)
                out += [".IP %s 4" % ("\\(bu" if mark == "-" else mark), inline(" ".join(words.split()))]
        else:
            out += [".PP", inline(" ".join(" ".join(group).split()))]
    return out


def usage(text):
    """Synopsis and description of what a tool prints for -h."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("usage:"))
    end = next(i for i in range(start, len(lines)) if not lines[i].strip())
    synopsis = [re.sub(r"^usage: | {7}", "", line, count=1) for line in lines[start:end]]
    out = [".SH SYNOPSIS", ".nf"] + ["\\fB%s\\fR" % escape(line) for line in synopsis] + [".fi"]
    out.append(".SH DESCRIPTION")
    return out + options(lines[:start] + lines[end:])


def options(lines):
    """Paragraphs, and options with two blanks before each and two or more behind."""
    out, kind = [], None
    for line in lines:
        head = re.match(r" {2}(\S.*?)(?: {2,}| (?=[a-z]+ \())(\S.*)", line)
        if not line.strip():
            kind = None
        elif head:
            out += item(head[1], escape(head[2]))
            kind = "option"
        elif kind is None:
            out += [".PP", escape(line.strip())]
            kind = "text"
        else:
            out.append(escape(line.strip()))
    return out


def page(name, section, date, version, about, body):
    """A whole page."""
    title = '.TH %s %d %s "hwmc %s" hwmc' % (name.upper().replace("-", "\\-"), section, date, version)
    lines = [".\\\" SPDX-License-Identifier: BSD-3-Clause", ".\\\" Copyright (C) the hwmc contributors", title,
             ".SH NAME", "%s \\- %s" % (escape(name), escape(about))]
    lines += body
    # A paragraph begins with its section by itself.
    kept = [line for i, line in enumerate(lines) if line != ".PP" or not re.match(r"\.S[HS] ", lines[i - 1])]
    return "\n".join(kept) + "\n"
