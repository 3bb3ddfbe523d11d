#!/usr/bin/env python3
"""Filter of doxygen: prints a header with its plain comments as doxygen reads them, and with the members that lists of
parameters.h make, each with its help line, unit, default and range.

The comment at the top describes the file. One behind code on its line describes what is before it, any other what comes
next: all functions up to the next blank line."""
import re
import sys
from pathlib import Path

LISTS = {name: re.sub(r"\\\n", " ", body) for name, body in re.findall(
    r"^#define (SCREE_\w+)\(X\)((?:.*\\\n)*.*)$", (Path(__file__).resolve().parents[1] / "include/scree/parameters.h").read_text(),
    re.M)}
ITEM = re.compile(r"\bX\(((?:\"(?:\\.|[^\"\\])*\"|\([^()]*\)|[^\"()])*)\)|\b(SCREE_\w+)\(X\)")
ARGUMENT = re.compile(r"(?:\"(?:\\.|[^\"\\])*\"|\([^()]*\)|[^\",()])+")


def rows(name):
    """Arguments of every row of a list and of the lists in it."""
    for row, other in ITEM.findall(LISTS[name]):
        if other:
            yield from rows(other)
        else:
            yield ["".join(re.findall(r'"((?:\\.|[^"\\])*)"', word)) if '"' in word else word.strip()
                   for word in ARGUMENT.findall(row)]


def member(row):
    kind, name, default, low, high, _, _, unit, readers, help_ = row
    choices = re.match(r"SCREE_WORDS\((\w+)\)", unit)
    about = [help_, f"default {default}" if default else ""]
    about.append("one of " + ", ".join(word for _, _, word in rows(choices[1])) if choices else f"unit {unit}" if unit else "")
    about += [f"{low} to {high}" if high != "0" and not choices else "", f"read by {readers}" if readers else ""]
    return f"ScreeKind_{kind} {name}; /* {'; '.join(filter(None, about))} */"


def members(name):
    return "\n".join("  " + member(row) for row in rows(name))


def structs(name):
    """A list of structs: every row names a type and the list of its members."""
    found = [(next(w for w in row if re.fullmatch(r"Scree\w+", w)), next(w for w in row if w in LISTS)) for row in rows(name)]
    return "\n".join(f"typedef struct {type_} {{\n{members(list_)}\n}} {type_};" for type_, list_ in found)


def expand(text):
    text = re.sub(r"^ *(SCREE_\w+)\(SCREE_MEMBER\)$", lambda m: members(m[1]), text, flags=re.M)
    return re.sub(r"^(SCREE_\w+)\(SCREE_\w+_STRUCT\)$", lambda m: structs(m[1]), text, flags=re.M)


def share_comments(text):
    """A comment holds up to the next blank line: functions there that have none of their own get a copy."""
    paragraphs = []
    for paragraph in text.split("\n\n"):
        pieces = re.split(r"^(/\*.*?\*/\n)", paragraph, flags=re.M | re.S)
        for k in range(2, len(pieces), 2):
            declarations = re.sub(r"^SCREE_API", lambda m: pieces[k - 1] + m[0], pieces[k], flags=re.M)
            pieces[k] = declarations.removeprefix(pieces[k - 1])
        paragraphs.append("".join(pieces))
    return "\n\n".join(paragraphs)


def mark_comments(text):
    out, end = [], 0
    for comment in re.finditer(r"/\*.*?\*/", text, re.S):
        before = text[text.rfind("\n", 0, comment.start()) + 1:comment.start()]
        body = re.sub(r"<(\w+)>", r"\\<\1\\>", comment[0][2:])  # names in angle brackets are no markup
        out += [text[end:comment.start()], "/**<" if before.strip() else "/**" if end else "/** @file\n *", body]
        end = comment.end()
    return "".join(out) + text[end:]


if __name__ == "__main__":
    print(mark_comments(share_comments(expand(Path(sys.argv[1]).read_text()))), end="")
