#!/usr/bin/python3
"""web_files.py BUILD WEB: puts the page together in WEB: its own files, the compiled module of BUILD, scenes, the assets that
they name, small pictures of them, MuJoCo where npm has fetched it, and scenes.json, which says what there is."""
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from gallery import IMAGES, PAPERS, first_comment, scenes  # noqa: E402

THUMBNAIL = 224  # pixels across


def copy(source, target):
    """Only where it differs: a server may be reading."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists() or target.read_bytes() != source.read_bytes():
        shutil.copyfile(source, target)


def thumbnail(picture, target, middle=1):
    """`middle`: the share of the picture that is shown."""
    if not picture.exists() or not shutil.which("ffmpeg"):
        return False
    if not target.exists() or target.stat().st_mtime < picture.stat().st_mtime:
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", str(picture), "-vf", f"crop=iw*{middle}:ih*{middle},scale={THUMBNAIL}:-2", "-q:v", "5",
                        str(target)], check=True, stdin=subprocess.DEVNULL)
    return True


def main():
    build, web = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    for source in sorted((ROOT / "app" / "web" / "page").rglob("*")):
        if source.is_file():
            copy(source, web / source.relative_to(ROOT / "app" / "web" / "page"))
    for source in sorted(build.glob("scree_*.js")) + sorted(build.glob("scree_*.wasm")):
        copy(source, web / source.name)
    (web / "package.json").write_text('{"type": "module"}\n')  # for node: the modules are ES modules
    mujoco = build / "npm" / "node_modules" / "@mujoco" / "mujoco"
    for name in ("mujoco.js", "mujoco.wasm"):
        if (mujoco / name).exists():
            copy(mujoco / name, web / "mujoco" / name)
    assets = [path for path in sorted((ROOT / "assets").iterdir()) if path.suffix in (".obj", ".ply", ".stl", ".xml", ".csv")]
    used, listed = set(), []
    for paper, name, path in scenes():
        text = path.read_text()
        copy(path, web / "scenes" / paper / path.name)
        used |= {asset for asset in assets if asset.name in text}
        title = re.search(r"^title:\s*(.+)$", text, re.MULTILINE)
        method = re.search(r"^method:.*?name:\s*(\w+)", text, re.MULTILINE | re.DOTALL)
        picture = thumbnail(IMAGES / f"{paper}_{name}.png", web / "thumbnails" / f"{paper}_{name}.jpg")
        listed.append({"name": f"{paper}/{name}", "title": title[1].strip("\"' ") if title else name,
                       "method": method[1] if method else "", "about": first_comment(text),
                       "mechanism": bool(re.search(r"^mechanism:", text, re.MULTILINE)), "picture": picture})
    for model in [asset for asset in used if asset.suffix == ".xml"]:
        used |= {asset for asset in assets if asset.name in model.read_text()}
    for asset in used:
        copy(asset, web / "assets" / asset.name)
    sandbox = thumbnail(ROOT / "docs" / "images" / "web.png", web / "thumbnails" / "sandbox.jpg", 0.7)
    index = {"papers": PAPERS, "sandbox": sandbox, "mujoco": (web / "mujoco" / "mujoco.wasm").exists(), "scenes": listed, "assets": sorted(asset.name for asset in used)}
    (web / "scenes.json").write_text(json.dumps(index, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
