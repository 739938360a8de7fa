# SPDX-License-Identifier: Apache-2.0
"""The editor: diagnostics, completion, examples, parameters, target, and the state in the address."""
import time

from selenium.webdriver.common.keys import Keys

import browser
import checks
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

    @classmethod
    def setUpClass(cls):
        browser.page.driver.execute_cdp_cmd("Network.enable", {})
        browser.page.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*codemirror/*"]})
        browser.page.open()
        browser.page.wait("document.querySelector('textarea.plain')?.value.includes('def transpose')")

    @classmethod
    def tearDownClass(cls):
        browser.page.driver.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})

    def put_caret(self, text):
        """A source that ends with a text, the caret behind it."""
        self.page.js("const a = document.querySelector('textarea.plain'); a.focus(); a.value = arguments[0];"
                     "a.setSelectionRange(a.value.length, a.value.length)", example_source("transpose.py") + text)

    def chosen(self):
        return self.page.value("document.getElementById(document.querySelector('textarea.plain')"
                               ".getAttribute('aria-activedescendant') ?? 'none')?.querySelector('code').textContent")

    def ends_with(self, text):
        self.page.wait(f"document.querySelector('textarea.plain').value.endsWith({text!r})")

    def test_works_without_codemirror(self):
        self.page.choose("textarea.plain", MISSPELT)
        self.page.wait_text("#caret-message", "cta_synx")

    def test_names_are_completed_by_keyboard(self):
        self.put_caret("\nTx.cta.copy_a")
        self.page.chord(Keys.CONTROL, " ")
        self.page.wait("!document.getElementById('plain-names').hidden")
        self.assertEqual(self.chosen(), "Tx.cta.copy_async")
        self.assertIn("Enter takes Tx.cta.copy_async", self.page.text("#editor [role=status]"))
        self.assertEqual(self.page.js(checks.ACCESSIBILITY), [])
        self.page.keys(Keys.ENTER)
        self.ends_with("\nTx.cta.copy_async")
        self.page.wait("document.getElementById('plain-names').hidden")
        self.page.chord(Keys.CONTROL, "z")  # one step back
        self.ends_with("\nTx.cta.copy_a")

    def test_a_dot_opens_the_list_and_typing_narrows_it(self):
        self.put_caret("\nT.cuda")
        self.page.keys(".")
        self.page.wait("!document.getElementById('plain-names').hidden")
        many = self.page.value("document.querySelectorAll('#plain-names li').length")
        self.page.keys("cta")
        self.page.wait(f"document.querySelectorAll('#plain-names li').length < {many}")
        self.page.keys(Keys.ARROW_DOWN)
        second = self.page.value("document.querySelectorAll('#plain-names li code')[1]?.textContent"
                                 " ?? document.querySelector('#plain-names li code').textContent")
        self.assertEqual(self.chosen(), second)
        self.page.keys(Keys.ESCAPE)
        self.page.wait("document.getElementById('plain-names').hidden")
        self.assertIsNone(self.chosen())
        self.ends_with("\nT.cuda.cta")

    def test_a_name_is_taken_by_pointer(self):
        self.put_caret("\nTx.cta.copy_as")
        self.page.chord(Keys.CONTROL, " ")
        self.page.wait("!document.getElementById('plain-names').hidden")
        self.page.click("#plain-names li")
        self.ends_with("\nTx.cta.copy_async")

    def test_what_nothing_completes_is_said(self):
        self.put_caret("\nqwertyuiop")
        self.page.chord(Keys.CONTROL, " ")
        self.page.wait_text("#editor [role=status]", "no names complete this")
