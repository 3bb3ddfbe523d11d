"""Every law (src/**/*_law.h) is one text for all targets: it includes nothing but core/lane.h and other laws, has no
loops, and compiles as OpenCL C 1.2 and, with LANE_SCALAR, as plain C. Kernels of devices (src/**/*.cl) compile as OpenCL C 1.2."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ.get("SCREE_SOURCE", pathlib.Path(__file__).resolve().parents[2])) / "src"
CLANG = "clang-14"
OPENCL = ["-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header"]


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def complaints_about(path):
    text = without_comments(path.read_text())
    for name in re.findall(r'#include\s+([<"][^>"]*[>"])', text):
        if name != '"core/lane.h"' and not name.endswith('_law.h"'):
            yield f"includes {name}"
    for word in re.findall(r"\b(?:for|while|do|goto)\b", text):
        yield f"has a loop: {word}"


def compile_as(path, arguments, suffix):
    with tempfile.NamedTemporaryFile("w", suffix=suffix) as file:
        file.write(f'#include "{path.relative_to(SOURCE)}"\n')
        file.flush()
        command = [CLANG, *arguments, "-fsyntax-only", "-Wall", "-Werror", "-Wno-unused-function", f"-I{SOURCE}", file.name]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        yield done.stderr


def main():
    bad = 0
    laws = sorted(SOURCE.rglob("*_law.h"))
    for path in laws:
        complaints = list(complaints_about(path))
        complaints += compile_as(path, OPENCL, ".cl")
        complaints += compile_as(path, ["-x", "c", "-std=c17", "-DLANE_SCALAR"], ".c")
        for line in complaints:
            print(f"{path.relative_to(SOURCE.parent)}: {line}")
        bad += bool(complaints)
    kernels = sorted(SOURCE.rglob("*.cl"))
    for path in kernels:
        complaints = list(compile_as(path, OPENCL, ".cl"))
        for line in complaints:
            print(f"{path.relative_to(SOURCE.parent)}: {line}")
        bad += bool(complaints)
    print(f"{len(laws)} laws, {len(kernels)} files of kernels, {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
