# SPDX-License-Identifier: Apache-2.0
"""Rules of the page's own text that no browser shows: modules that can be put into one file, no markup from data."""
import glob
import os
import re
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(HERE))), "src/explore/page")
DECLARATION = re.compile(r"^(?:export )?(?:async )?(?:function|class|const|let) (\w+)", re.M)
FORBIDDEN = [r"innerHTML", r"outerHTML", r"insertAdjacentHTML", r"document\.write", r"\beval\(", r"new Function",
             r"https?://(?!www\.w3\.org/2000/svg)", r"setAttribute\(\s*[\"']style"]


def modules():
    return {os.path.basename(path): open(path, encoding="utf-8").read() for path in sorted(glob.glob(PAGE + "/js/*.js"))}


def declared_twice(texts):
    owners = {}
    for name, text in texts.items():
        for declared in DECLARATION.findall(text):
            owners.setdefault(declared, []).append(name)
    return {name: files for name, files in owners.items() if len(files) > 1}


def forbidden_in(text):
    return [pattern for pattern in FORBIDDEN if re.search(pattern, text)]


class PageSource(unittest.TestCase):
    def test_top_level_names_are_unique(self):
        self.assertEqual(declared_twice(modules()), {})
        self.assertEqual(declared_twice({"a.js": "const x = 1;\n", "b.js": "export function x() {}\n"}), {"x": ["a.js", "b.js"]})

    def test_imports_are_single_lines_of_modules_that_exist(self):
        texts = modules()
        for name, text in texts.items():
            for line in re.findall(r"^import.*$", text, re.M):
                match = re.fullmatch(r'import \{([\w, ]+)\} from "\./(\w+\.js)";', line)
                self.assertIsNotNone(match, f"{name}: {line}")
                for imported in match[1].split(", "):
                    declared = rf"(?m)^export (async )?(function|class|const|let) {imported}\b"
                    self.assertRegex(texts[match[2]], declared, f"{name}: {line}")

    def test_no_markup_from_data_no_inline_code(self):
        for name, text in modules().items():
            self.assertEqual(forbidden_in(text), [], name)
        html = open(PAGE + "/index.html", encoding="utf-8").read()
        self.assertNotRegex(html, r"style=|\son\w+=|<script(?![^>]*src=)|<style")
        self.assertEqual(forbidden_in("x.innerHTML = kernel"), ["innerHTML"])

    def test_files_say_what_they_are_and_stay_short(self):
        for name, text in modules().items():
            self.assertLess(text.count("\n"), 500, name)
            self.assertTrue(text.startswith("// SPDX-License-Identifier: Apache-2.0\n//\n// "), name)
