"""Every test function asserts something, itself or through a function of its file or of a header that it includes."""
import ast
import os
import re
import unittest

TEST = os.path.join(os.environ["SCREE_SOURCE"], "test")
ASSERTS = re.compile(r"\b(assert_\w+|_?fail|_fail|expect)\s*\(")
FUNCTION = re.compile(r"^(?:static\s+)?(?:inline\s+)?[A-Za-z_][\w \*]*?\b(\w+)\(([^;{}]*)\)\s*\{\n(.*?)^\}", re.S | re.M)


def text_of(path, seen):
    """The file with the headers of this project's tests that it includes."""
    if path in seen:
        return ""
    seen.add(path)
    with open(path) as file:
        text = file.read()
    for name in re.findall(r'#include "([^"]+)"', text):
        for folder in (os.path.dirname(path), TEST):
            if os.path.exists(os.path.join(folder, name)):
                text += text_of(os.path.join(folder, name), seen)
                break
    return text


def closure(asserting, words_of):
    """Those functions, and all that use one of them, whatever they use it for."""
    while True:
        more = {name for name, words in words_of.items() if name not in asserting and words & asserting}
        if not more:
            return asserting
        asserting |= more


def silent_tests(text):
    bodies = {name: body for name, _, body in FUNCTION.findall(text)}
    bodies.update(re.findall(r"^#define (\w+)\([^)]*\)((?:.*\\\n)*.*)", text, re.M))
    asserting = closure({name for name, body in bodies.items() if ASSERTS.search(body)},
                        {name: set(re.findall(r"\b\w+\b", body)) for name, body in bodies.items()})
    names = re.findall(r"cmocka_unit_test\w*\((\w+)", text)
    return [name for name in names if name in bodies and name not in asserting]


def words_of_function(function):
    """Names that a Python function uses; "assert" where it has the statement."""
    nodes = list(ast.walk(function))
    return {getattr(node, "attr", None) or getattr(node, "id", "") for node in nodes} | \
        {"assert" for node in nodes if isinstance(node, ast.Assert)}


def silent_python_tests(text):
    words = {node.name: words_of_function(node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}
    # good and bad are those of test/cli/support/case.py, raises is pytest's.
    asserting = closure({word for found in words.values() for word in found if word.startswith("assert")} |
                        {"fail", "good", "bad", "raises"}, words)
    return [name for name in words if name.startswith("test_") and name not in asserting]


class Assertions(unittest.TestCase):
    def test_no_test_is_silent(self):
        seen = 0
        for folder, _, names in os.walk(TEST):
            for name in names:
                if not name.endswith(".c"):
                    continue
                path = os.path.join(folder, name)
                text = text_of(path, set())
                seen += text.count("cmocka_unit_test(")
                self.assertEqual(silent_tests(text), [], path)
        self.assertGreater(seen, 300)

    def test_no_test_in_python_is_silent(self):
        seen = 0
        for folder, _, names in os.walk(TEST):
            for name in sorted(names):
                if not name.endswith(".py"):
                    continue
                with open(os.path.join(folder, name)) as file:
                    text = file.read()
                seen += text.count("def test_")
                self.assertEqual(silent_python_tests(text), [], os.path.join(folder, name))
        self.assertGreater(seen, 150)

    def test_a_silent_one_in_python_is_found(self):
        text = "def test_quiet():\n    run()\ndef help():\n    assert 1\ndef test_loud():\n    help()\n" \
               "def test_louder(self):\n    self.assertTrue(1)\n"
        self.assertEqual(silent_python_tests(text), ["test_quiet"])

    def test_a_silent_one_is_found(self):
        text = "static void quiet(void **s) {\n  run();\n}\nstatic void help(void) {\n  assert_true(1);\n}\n" \
               "static void loud(void **s) {\n  help();\n}\ncmocka_unit_test(quiet), cmocka_unit_test(loud)"
        self.assertEqual(silent_tests(text), ["quiet"])


if __name__ == "__main__":
    unittest.main()
