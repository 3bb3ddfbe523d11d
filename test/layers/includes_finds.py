"""The test of the layers finds what it should: each wrong tree below gives its problem, the right one gives none."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

CHECK = Path(__file__).with_name("includes.py")
PLAN = """```rooms
include       ->
src/core      -> include   # comment
src/state     -> include src/core
src/methods   -> src/core src/state
src/methods/* -> src/core src/state src/methods
src/world     -> src/state src/methods src/methods/*
```
```foreign
yaml.h -> src/core
```
"""
RIGHT = {
    "include/scree/scree.h": "",
    "src/core/core.h": '#include "scree/scree.h"\n#include <yaml.h>\n',
    "src/state/state.h": '#include "core/core.h"\n',
    "src/methods/method.h": '#include "state/state.h"\n',
    "src/methods/common/contact.h": '#include "methods/method.h"\n',
    "src/methods/one/one.c": '#include "methods/common/contact.h"\n#include "one.h"\n',
    "src/methods/one/one.h": '#include "methods/method.h"\n',
    "src/methods/two/two.h": "",
    "src/world/world.c": '#include "methods/two/two.h"\n',
}
WRONG = [
    ({"src/core/core.h": '#include "state/state.h"\n'}, "src/core -> src/state is not an arrow"),
    ({"src/methods/one/one.c": '#include "methods/two/two.h"\n'}, "src/methods/one -> src/methods/two is not an arrow"),
    ({"src/methods/method.h": '#include "methods/one/one.h"\n'}, "src/methods -> src/methods/one is not an arrow"),
    ({"src/state/state.c": '#  include "nowhere.h"\n'}, "no such file: nowhere.h"),
    ({"src/state/state.c": '#include "../world/world.h"\n', "src/world/world.h": ""}, "src/state -> src/world is not"),
    ({"src/state/state.c": "#include <yaml.h>\n"}, "may be used in src/core only"),
    ({"src/cellar/wine.c": ""}, "lies in no room"),
    ({"docs/architecture.md": PLAN.replace("-> include   #", "-> src/world   #")}, "cycle"),
    ({"docs/architecture.md": PLAN.replace("-> include   #", "-> src/attic   #")}, "no such room"),
]


def run(files):
    with tempfile.TemporaryDirectory() as name:
        for path, text in {"docs/architecture.md": PLAN, **RIGHT, **files}.items():
            (Path(name) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(name) / path).write_text(text)
        result = subprocess.run([sys.executable, CHECK], env={**os.environ, "SCREE_SOURCE": name}, text=True,
                                capture_output=True)
        return result.returncode, result.stdout + result.stderr


def main():
    failed = 0
    for files, expected in [({}, "0 problems"), *WRONG]:
        code, said = run(files)
        if (code == 0) != (not files) or expected not in said:
            failed += 1
            print(f"expected {expected!r} of {files}, got {code}:\n{said}")
    print(f"{len(WRONG) + 1} trees, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
