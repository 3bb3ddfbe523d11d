"""What comes over the line before the first picture is at most 700 kB, compressed, with threads and without: the files that the
page and its worker name statically, the compiled module, the list of scenes and the sandbox."""
import gzip
import os
import pathlib
import re
import sys

SOURCE = pathlib.Path(os.environ.get("SCREE_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
WEB = SOURCE / "web"
MOST = 700_000
# Static imports, what the document asks for, and the worker: not what is imported when a scene wants it.
NAMED = re.compile(r'(?:^import[^;]*?from "\./|\bhref="|\bsrc="|new URL\("\./)([\w.]+\.(?:js|css|svg))"', re.M)


def named_from(first):
    found, left = set(), [first]
    while left:
        name = left.pop()
        if name in found:
            continue
        found.add(name)
        left += NAMED.findall((WEB / name).read_text())
    return found


def main():
    for kind in ("threads", "plain"):
        names = named_from("index.html") | {"scenes.json", "sandbox.yaml", f"scree_{kind}.js", f"scree_{kind}.wasm"}
        names |= {f"scree_{kind}.worker.js"} & {path.name for path in WEB.iterdir()}
        for needed in ("main.js", "worker.js", "engine.js", "style.css"):
            if needed not in names:
                sys.exit(f"wrong: {needed} is not found among {sorted(names)}")
        sizes = {name: len(gzip.compress((WEB / name).read_bytes(), 9)) for name in names}
        total = sum(sizes.values())
        print(f"{kind}: {total} bytes in {len(names)} files; {sorted(sizes.items(), key=lambda item: -item[1])[:4]}")
        if total > MOST:
            sys.exit(f"wrong: {total} bytes before the first picture, at most {MOST} are wanted")


if __name__ == "__main__":
    main()
