"""The browser's module gives the bits of the native program: every shipped scene without a mechanism, for a frame or more, in
node; those with one run (web/machines looks at what they do), or say what is missing. (web/page_window compares a run on
several threads: these need a browser.)"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

SOURCE = pathlib.Path(os.environ.get("SCREE_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
SCREE = os.environ.get("SCREE", str(SOURCE / "build" / "scree"))
WEB = SOURCE / "web"
# Enough frames that everything touches, where it is cheap; one frame of the others.
FRAMES = {"side_by_side/collapse": 12, "papadimitriou2012/digging_tool": 6, "holz2014/slope": 6, "none/burst": 10,
          "neder2023/pillar": 4, "narain2010/impacts": 2, "papadimitriou2012/pour": 20}


def scenes():
    for path in sorted((SOURCE / "scenes").glob("*/*.yaml")):
        yield f"{path.parent.name}/{path.stem}", bool(re.search(r"^mechanism:", path.read_text(), re.M))


def expected(scene):
    """What a scene with a mechanism says: a hash, or why not."""
    if re.search(r"^terrain:.*\bpng:", (SOURCE / "scenes" / f"{scene}.yaml").read_text(), re.M):
        return r"error: .*reads no pictures of heights"
    return r"[0-9a-f]{16} " if (WEB / "mujoco" / "mujoco.wasm").exists() else r"error: .*mechanisms need MuJoCo"


def coarser(scene):
    """The scene with grains of 2.2 times the radius, so that all of them take half a minute."""
    text = (SOURCE / "scenes" / f"{scene}.yaml").read_text()
    found = [("method.radius", re.search(r"^method:.*?\bradius:\s*([\d.e-]+)", text, re.M)),
             ("upsample.radius", re.search(r"^upsample:.*?\bradius:\s*([\d.e-]+)", text, re.M))]
    return [f"{path}={2.2 * float(match[1]):.6g}" for path, match in found if match]


def native(scene):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        sets = [word for path in coarser(scene) for word in ("--set", path)]
        subprocess.run([SCREE, "run", scene, "--frames", str(FRAMES.get(scene, 1)), "-o", folder, "--quiet", "--threads", "1",
                        "--frames-format", "none", "--report", str(report), *sets], check=True, capture_output=True)
        told = json.loads(report.read_text())
    return f"{told['state_hash']} {told['grains_hash'] if told['particles']['grains'] else '-'}"


def browser(names):
    lines = "".join(f"{name} {FRAMES.get(name, 1)} {' '.join(coarser(name))}\n" for name in names)
    done = subprocess.run(["node", str(SOURCE / "test" / "web" / "run_scenes.mjs"), str(WEB), str(SOURCE)],
                          input=lines, capture_output=True, text=True, timeout=1500)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)


def main():
    if not (WEB / "scree_plain.wasm").exists():
        sys.exit("there is no web/: `make web` builds it")
    names = dict(scenes())
    still = [name for name, mechanism in names.items() if not mechanism]
    with ThreadPoolExecutor(4) as pool:
        halves = [pool.submit(browser, part) for part in (list(names)[::2], list(names)[1::2])]
        wanted = dict(zip(still, pool.map(native, still)))
        found = {**halves[0].result(), **halves[1].result()}
    problems = []
    for name, mechanism in names.items():
        said = found.get(name, "nothing")
        if mechanism and not re.match(expected(name), said):
            problems.append(f"{name}: {said}")
        if not mechanism and said != wanted[name]:
            problems.append(f"{name}: {said} instead of {wanted[name]}")
    print(f"{len(still)} scenes, {len(problems)} differ")
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
