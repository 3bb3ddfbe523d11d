"""Every snippet of these pages runs, in order, as a reader would type them."""
import os
import re

import pytest
from fixture import BUILD, ROOT

PAGES = ["docs/python.md", "README.md"]


@pytest.mark.parametrize("page", PAGES)
def test_snippets(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(BUILD), prepend=os.pathsep)  # where `scree` is
    text = (ROOT / page).read_text()
    namespace = {"__name__": "page"}
    snippets = list(re.finditer(r"^```python\n(.*?)^```", text, re.M | re.S))
    assert snippets
    for snippet in snippets:
        line = text.count("\n", 0, snippet.start(1))
        exec(compile("\n" * line + snippet[1], str(ROOT / page), "exec"), namespace)
    for value in namespace.values():
        if type(value).__name__ in ("World", "Batch"):
            value.close()
