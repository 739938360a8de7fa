# SPDX-License-Identifier: Apache-2.0
"""The read-only copy that `warpwright explore FILE --export page.html` writes."""
import os
import subprocess
import tempfile

import browser
from browser import ROOT, PageTest


class ReadOnly(PageTest):
    def test_an_exported_page_needs_no_server(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            command = [browser.program, "explore", "examples/transpose.py", "--export", path]
            subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
            self.page.open(address="file://" + path)
            self.page.wait("!document.getElementById('read-only').hidden")
            self.assertIn("def transpose", self.page.value("document.querySelector('textarea.plain').value"))
            self.page.wait_grid("Logical tile", "g.data.rows === 64")
            self.page.tab("choice")
            self.page.wait_text(".list", "ldstmatrix")
            self.page.wait_text("[aria-label=Moves]", "1 of")
            self.page.tab("code")
            self.page.wait("document.querySelectorAll('.code-column').length === 3")
            self.page.tab("run")
            self.page.wait_text("#run-says", "1,248 warp instructions")
            self.assertTrue(self.page.value("document.getElementById('compare-go').disabled"))
            loaded = self.page.value("performance.getEntriesByType('resource').map(r => r.name)"
                                     ".filter(n => !/^(data|blob):/.test(n))")
            self.assertEqual(loaded, [], "the copy asks for other files")
