"""Checks every #include of include/, src/, bench/, app/ and python/glue/ against the rooms and arrows in docs/architecture.md."""
import os
import re
import sys
from pathlib import Path

ROOT = Path(os.environ.get("SCREE_SOURCE", Path(__file__).resolve().parents[2]))
PLAN = ROOT / "docs" / "architecture.md"
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def fenced(name):
    """The lines of the block ```name of the plan, without comments."""
    block = re.search(rf"^```{name}\n(.*?)^```", PLAN.read_text(), re.M | re.S)
    if not block:
        sys.exit(f"{PLAN}: no block ```{name}")
    return [line.split("#")[0].strip() for line in block[1].splitlines() if line.split("#")[0].strip()]


def read_plan():
    """Rooms with the rooms that each may include, and the folders in which a foreign header may be used."""
    rooms = {}
    for line in fenced("rooms"):
        room, _, targets = line.partition("->")
        rooms[room.strip()] = targets.split()
    foreign = {}
    for line in fenced("foreign"):
        header, _, users = line.partition("->")
        foreign[header.strip()] = users.split()
    return rooms, foreign


def cycle_in(rooms):
    """A cycle of arrows as a list of rooms, or None."""
    done, path = set(), []

    def visit(room):
        if room in path:
            return path[path.index(room):] + [room]
        if room in done:
            return None
        path.append(room)
        for target in rooms[room]:
            found = visit(target)
            if found:
                return found
        path.pop()
        done.add(room)
        return None

    for room in rooms:
        found = visit(room)
        if found:
            return found
    return None


def room_of(path, rooms):
    """The room that a file (relative to the root) lies in: the longest folder of the plan that holds it. A folder of
    src/methods is a room of its own, with the arrows of src/methods/*."""
    folder = path.parent
    if folder.parts[:2] == ("src", "methods") and len(folder.parts) > 2 and folder.parts[2] != "common":
        return "/".join(folder.parts[:3])
    while str(folder) != ".":
        if folder.as_posix() in rooms:
            return folder.as_posix()
        folder = folder.parent
    return None


def target_of(path, name):
    """The file that an #include "name" means, relative to the root."""
    for base in (path.parent, Path("src"), Path("include"), Path(".")):
        if (ROOT / base / name).is_file():
            return Path(os.path.normpath(base / name))
    return None


def check_file(path, rooms, foreign):
    text = (ROOT / path).read_text(errors="replace")
    here = room_of(path, rooms)
    if here is None:
        yield f"{path}: lies in no room of the plan"
        return
    allowed = set(rooms.get(here, rooms.get("src/methods/*", []))) | {here}
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start(2)) + 1
        name = match[2]
        if match[1] == "<":
            users = next((users for header, users in foreign.items() if name.startswith(header)), None)
            if users is not None and here not in users:
                yield f"{path}:{line}: <{name}> may be used in {' '.join(users)} only"
            continue
        target = target_of(path, name)
        if target is None:
            yield f"{path}:{line}: no such file: {name}"
            continue
        there = room_of(target, rooms)
        if there not in allowed and not ("src/methods/*" in allowed and there and there.startswith("src/methods/")):
            yield f"{path}:{line}: {here} -> {there} is not an arrow of the plan ({name})"


def main():
    rooms, foreign = read_plan()
    problems = []
    for room, targets in rooms.items():
        problems += [f"{PLAN.name}: {room} -> {target}: no such room" for target in targets if target not in rooms]
    found = None if problems else cycle_in(rooms)
    if found:
        problems.append("the plan has a cycle: " + " -> ".join(found))
    files = [path.relative_to(ROOT) for top in ("include", "src", "app", "bench", "python/glue") for path in sorted((ROOT / top).rglob("*"))
             if path.suffix in (".c", ".h", ".cpp", ".cc", ".hpp")]
    if not files:
        problems.append("no source files found")
    for path in files:
        problems += check_file(path, rooms, foreign)
    for problem in problems:
        print(problem)
    print(f"{len(files)} files, {len(rooms)} rooms, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
