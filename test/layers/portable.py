"""Results do not depend on the C library: what they are made of calls the functions of core/portable.h, never sin, exp
and their like of <math.h>, which every C library rounds in its own way. Rooms that only make pictures may."""
import os
import re
import sys
from pathlib import Path

ROOT = Path(os.environ.get("SCREE_SOURCE", Path(__file__).resolve().parents[2]))
PICTURES = ("src/render/", "src/picture/")
# Functions that are not exactly rounded. sqrt, fmod, frexp, ldexp, floor, round and the like are exact.
NAMES = "a?(?:sin|cos|tan)h?|atan2|sincos|exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|cbrt|hypot|erfc?|[tl]gamma|gamma|j[01n]|y[01n]"
CALL = re.compile(rf"(?<![\w.>])(?:__builtin_)?({NAMES})[fl]?\s*\(")
COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)


def complaints_about(name, text):
    """Lines that call such a function, with comments and texts left out."""
    bare = COMMENT_OR_TEXT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for number, line in enumerate(bare.splitlines(), 1):
        for match in CALL.finditer(line):
            yield f"{name}:{number}: {match[0]}...) of the C library: core/portable.h has what gives the same bits everywhere"


def finds_what_it_should():
    wrong = "double f(double x) { return sin(x) + powf (2, 3) + __builtin_exp(x); }\n"
    right = "/* sin(x) */ double f(double x) { return portable_sin(x) + s.log(x) + core->log(x) + sqrt(x); } // cos(x)\n"
    return len(list(complaints_about("x.c", wrong))) == 3 and not list(complaints_about("x.c", right))


def main():
    if not finds_what_it_should():
        sys.exit("the test itself misses calls")
    complaints = []
    for path in sorted(ROOT.glob("src/**/*.[ch]")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(PICTURES):
            complaints += complaints_about(name, path.read_text())
    print("\n".join(complaints))
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
