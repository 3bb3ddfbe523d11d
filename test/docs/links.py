"""Checks that the relative links and images of every Markdown file lead to files, and their anchors to headings."""
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(os.environ.get("SCREE_SOURCE", Path(__file__).resolve().parents[2]))
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|<(?:img|a)\b[^>]*?(?:src|href)=\"([^\"]+)\"")


def without_code(text):
    text = re.sub(r"^(```|~~~).*?^\1", lambda m: "\n" * m[0].count("\n"), text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(path):
    """Headings as links spell them: lower case, punctuation gone, blanks to hyphens."""
    names = set()
    for heading in re.findall(r"^#{1,6}\s+(.*?)\s*#*$", path.read_text(), re.M):
        text = re.sub(r"[^\w\- ]", "", heading.lower())
        names.add(text.replace(" ", "-"))
    return names


def check(path):
    text = without_code(path.read_text())
    for match in LINK.finditer(text):
        link = unquote(match[1] or match[2])
        if re.match(r"[a-z][a-z0-9+.-]*:", link):
            continue
        line = text.count("\n", 0, match.start()) + 1
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        where = f"{path.relative_to(ROOT)}:{line}"
        if not target.exists():
            yield f"{where}: no such file: {link}"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            yield f"{where}: no such heading: {link}"


def main():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, text=True,
                            capture_output=True)
    names = listed.stdout.split("\n") if listed.returncode == 0 else \
        [str(p.relative_to(ROOT)) for p in ROOT.rglob("*.md") if not p.relative_to(ROOT).parts[0].startswith("build")]
    files = [ROOT / name for name in names if name and (ROOT / name).exists()]
    problems = [problem for path in files for problem in check(path)]
    print("\n".join(problems + [f"{len(files)} documents, {len(problems)} problems"]))
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
