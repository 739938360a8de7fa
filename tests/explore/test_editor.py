# SPDX-License-Identifier: Apache-2.0
"""The editor: diagnostics, completion, examples, parameters, target, and the state in the address."""
import time

from selenium.webdriver.common.keys import Keys

from browser import PageTest, example_source

MISSPELT = example_source("transpose.py").replace("T.cuda.cta_sync()", "T.cuda.cta_synx()", 1)


class Editor(PageTest):
    def test_loads_with_the_file_of_the_command(self):
        start = time.monotonic()
        self.page.open()
        print(f"ready after {time.monotonic() - start:.2f} s ", end="")
        self.assertIn("def transpose", self.page.source())
        self.page.wait_text("#version", "transpose")
        self.assertEqual(self.page.text("#problems-toggle"), "No problems")

    def test_diagnostics_follow_the_text(self):
        self.page.open()
        self.page.set_source(MISSPELT)
        self.page.wait_text("#problems-toggle", "1 error")
        self.assertEqual(self.page.value("document.querySelectorAll('.CodeMirror .problem-error').length"), 1)
        self.page.click("#problems-toggle")
        self.page.wait_text("#problems", "cta_synx")
        self.page.click("#problems .place")
        self.page.wait_text("#caret-message", "cta_synx")
        self.page.set_source(example_source("transpose.py"))
        self.page.wait_text("#problems-toggle", "No problems")
        self.assertEqual(self.page.value("document.querySelectorAll('.CodeMirror .problem-error').length"), 0)

    def test_a_fix_is_one_click(self):
        self.page.open()
        self.page.set_source(MISSPELT)
        self.page.wait_text("#problems-toggle", "1 error")
        if "Fix:" not in self.page.text("#problems"):
            self.skipTest("the program offers no fix for a misspelt name")
        self.page.click("#problems-toggle")
        self.page.click_text("#problems button", "Fix: ")
        self.page.wait_text("#problems-toggle", "No problems")

    def test_names_are_completed(self):
        self.page.open()
        self.page.js("const m = document.querySelector('.CodeMirror').CodeMirror;"
                     "m.setCursor(29, 8); m.replaceSelection('Tx.copy_a'); m.focus()")
        self.page.chord(Keys.CONTROL, " ")
        self.page.wait_text(".CodeMirror-hints", "Tx.copy_async")
        self.page.keys(Keys.ENTER)
        self.page.wait("document.querySelector('.CodeMirror').CodeMirror.getLine(29).includes('Tx.copy_async')")

    def test_parameters_are_fields(self):
        self.page.open()
        self.page.wait("document.querySelector('#params input[name=tile]')")
        self.assertEqual(self.page.value("document.querySelector('#params input[name=tile]').value"), "64")
        self.page.choose("#params input[name=tile]", "128")
        self.page.settle()
        self.assertEqual(self.page.value("document.querySelector('#params input[name=expression]').value"), "build(tile=128)")
        self.page.tab("code")
        self.page.wait("[...document.querySelectorAll('.code-line')].some(n => n.textContent.includes('.reqntid 256'))")
        self.page.choose("#params input[name=expression]", "build(tile=7)")
        self.page.wait_text("#problems-toggle", "error")

    def test_target_is_chosen(self):
        self.page.open()
        self.page.choose("#target", "sm_80")
        self.page.tab("choice")
        self.page.settle()
        self.page.click(".list [role=option]:nth-child(3)")
        self.page.wait_text("#variants", "stmatrix")  # sm_80 has no stmatrix: the reason says so

    def test_the_address_reproduces_the_page(self):
        self.page.open()
        self.page.example("pipeline")
        self.page.choose("#params input[name=stages]", "2")
        self.page.settle()
        self.page.tab("choice")
        self.page.settle()
        self.page.click(".list [role=option]:nth-child(2)")
        self.page.settle()
        time.sleep(0.4)  # the address is written a moment after the state
        fragment = self.page.value("location.hash")
        self.page.open(fragment)
        self.page.settle()
        self.assertIn("def pipeline", self.page.source())
        self.assertEqual(self.page.value("document.querySelector('#params input[name=stages]').value"), "2")
        self.assertEqual(self.page.value("document.querySelector('#tabs [aria-selected=true]').textContent"), "Choice")
        self.page.wait("document.querySelector('.list [role=option]:nth-child(2)')?.getAttribute('aria-selected') === 'true'")

    def test_a_damaged_address_is_reported(self):
        self.page.open("#not-base64!")
        self.page.wait_text("#activity", "cannot be read")
        self.assertIn("def transpose", self.page.source())


class ServerGone(PageTest):
    def expected(self, message):
        return "api/" in message

    def test_is_said(self):
        self.page.open()
        self.page.settle()
        self.page.driver.execute_cdp_cmd("Network.enable", {})
        self.page.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*api/*"]})
        try:
            self.page.set_source(example_source("pipeline.py"))
            self.page.wait_text("#activity", "is it still running?")
        finally:
            self.page.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})


class PlainEditor(PageTest):
    """Where CodeMirror is not installed: the same page with a text area."""

    def expected(self, message):
        return "codemirror/" in message

    def test_works_without_codemirror(self):
        self.page.driver.execute_cdp_cmd("Network.enable", {})
        self.page.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*codemirror/*"]})
        try:
            self.page.open()
            self.page.wait("document.querySelector('textarea.plain')?.value.includes('def transpose')")
            self.page.choose("textarea.plain", MISSPELT)
            self.page.wait_text("#caret-message", "cta_synx")
        finally:
            self.page.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
