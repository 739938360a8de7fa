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
            self.contents()
            self.assertTrue(self.page.value("document.getElementById('compare-go').disabled"))
            loaded = self.page.value("performance.getEntriesByType('resource').map(r => r.name)"
                                     ".filter(n => !/^(data|blob):/.test(n))")
            self.assertEqual(loaded, [], "the copy asks for other files")

    def contents(self):
        """Memory at the moments that the copy has, and what it says of them."""
        self.page.wait("document.querySelectorAll('.warps tbody tr').length === 4")
        self.assertTrue(self.page.value("document.getElementById('copy-contents').hidden"))
        self.page.click("#part-shared")
        self.page.wait_text("#copy-contents", "Contents of moment 0, step 0: one of ")
        self.page.wait_grid("Shared memory", "g.data.rows > 0")
        self.assertEqual(self.page.coloured("Shared memory"), 0)
        self.page.click("#copy-contents button:nth-of-type(2)")
        self.page.wait("document.querySelector('.state').dataset.moment !== '0'")
        self.assertGreater(self.page.coloured("Shared memory"), 1000)
        self.page.choose("#run-slider", str(int(self.page.value("document.getElementById('run-slider').value")) + 1))
        self.page.wait_text("#copy-contents", "the last before this one, one of ")
        self.page.click("#part-registers")
        self.page.wait_grid("Registers", "g.data.rows > 10")
        self.assertGreater(self.page.coloured("Registers"), 100)
