# SPDX-License-Identifier: Apache-2.0
"""The server and the browser of the tests, and the few things that tests do with a page."""
import contextlib
import json
import os
import subprocess
import time
import unittest

from selenium import webdriver
from selenium.common.exceptions import JavascriptException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
# One process shows all pages. Otherwise each fresh page is a new process, with another one kept ready behind it, and the
# page's scripts are compiled again: a twelfth of the tests' processor time.
ONE_RENDERER = ("--renderer-process-limit=1", "--disable-site-isolation-trials",
                "--disable-features=SpareRendererForSitePerProcess")
# What a browser does beside showing pages takes another twentieth.
NOTHING_ELSE = ("--disable-gpu", "--disable-software-rasterizer", "--disable-extensions", "--disable-background-networking",
                "--disable-component-update", "--disable-sync", "--no-first-run")
PATIENCE = 60  # seconds until something that should appear counts as missing
SIZES = [(1366, 768), (1920, 1080), (800, 900)]  # a laptop, a projector, either at 200 %

# Ends with the value of an expression when that is true, or after a second, or with what it threw.
WAITING = """
const done = arguments[arguments.length - 1], values = [...arguments].slice(0, -1);
const ask = function() { return %s; };
const end = Date.now() + 1000;
const step = () => {
  try {
    const value = ask(...values);
    if (value || Date.now() > end) done(value);
    else setTimeout(step, 20);
  } catch (error) {
    done({threw: String(error)});
  }
};
step();
"""

page = None  # the Page of this run
program = None


@contextlib.contextmanager
def session(the_program, address=None):
    """One server and one browser for all tests."""
    global page, program
    program = the_program
    server = None
    if address is None:
        server, address = start_server()
    driver = make_driver()
    try:
        page = Page(driver, address)
        yield
    finally:
        driver.quit()
        if server:
            server.terminate()
            server.wait()


class NotBuilt(Exception):
    """The program has no explorer, and says why."""


def start_server():
    server = subprocess.Popen([program, "explore", "examples/transpose.py"], cwd=ROOT, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    address = server.stdout.readline().strip()
    if address.startswith("http://127.0.0.1:"):
        return server, address
    said = server.communicate()[1].strip()
    if "built without cpp-httplib" in said:
        raise NotBuilt(said.split("\n")[0])
    raise RuntimeError(f"`warpwright explore` printed `{address}` and `{said}`, expected its address")


def make_driver():
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--force-device-scale-factor=1",
                     "--window-size=1366,768", *ONE_RENDERER, *NOTHING_ELSE):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options)


class Page:
    def __init__(self, driver, address):
        self.driver = driver
        self.address = address

    def open(self, fragment="", address=None):
        """A fresh page; waits until it is ready."""
        self.driver.get("about:blank")
        self.driver.get((address or self.address) + fragment)
        self.wait("document.documentElement.dataset.ready === 'true'", "the page to be ready")

    def js(self, script, *args):
        return self.driver.execute_script(script, *args)

    def value(self, expression, *args):
        return self.js(f"return {expression}", *args)

    def wait(self, expression, what=None, *args):
        """Until a JavaScript expression is true; its value. The page asks itself, because a question from here
        takes five processes; one that goes away while it waits is asked again."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                value = self.driver.execute_async_script(WAITING % expression, *args)
            except JavascriptException as gone:
                if "unloaded" not in str(gone):
                    raise
                value = None
            if isinstance(value, dict) and "threw" in value:
                raise AssertionError(f"{value['threw']} while waiting for {what or expression}")
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"waited in vain for {what or expression}")

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def click(self, selector):
        self.wait("(n => n && !n.disabled)(document.querySelector(arguments[0]))", selector, selector)
        self.js("document.querySelector(arguments[0]).scrollIntoView({block: 'nearest'})", selector)
        self.find(selector).click()

    def text(self, selector):
        return self.value("document.querySelector(arguments[0])?.textContent ?? ''", selector)

    def wait_text(self, selector, part):
        return self.wait("(document.querySelector(arguments[0])?.textContent ?? '').includes(arguments[1])",
                         f"`{part}` in {selector}", selector, part)

    def texts(self, selector):
        """The texts of all elements that a selector finds."""
        return self.value("[...document.querySelectorAll(arguments[0])].map(n => n.textContent)", selector)

    def click_text(self, selector, part):
        """Clicks the first of the elements whose text has this part."""
        self.js("[...document.querySelectorAll(arguments[0])].find(n => n.textContent.includes(arguments[1])).click()",
                selector, part)

    def row(self, table, start):
        """The cells of the first row of a table whose text starts so."""
        return self.value("[...[...document.querySelectorAll(arguments[0] + ' tr')]"
                          ".find(r => r.textContent.startsWith(arguments[1])).cells].map(c => c.textContent)", table, start)

    def choose(self, selector, value):
        """Chooses in a <select>, or fills in a field, as a user would leave it."""
        self.js("const n = document.querySelector(arguments[0]); n.value = arguments[1];"
                "for (const e of ['input', 'change']) n.dispatchEvent(new Event(e, {bubbles: true}));", selector, value)

    def tab(self, name):
        self.click(f"#tab-{name}")

    def keys(self, *keys):
        ActionChains(self.driver).send_keys(*keys).perform()

    def chord(self, *keys):
        chain = ActionChains(self.driver)
        for key in keys:
            chain.key_down(key)
        for key in reversed(keys):
            chain.key_up(key)
        chain.perform()

    def set_source(self, text):
        self.js("document.querySelector('.CodeMirror').CodeMirror.setValue(arguments[0])", text)

    def source(self):
        return self.value("document.querySelector('.CodeMirror').CodeMirror.getValue()")

    def example(self, name):
        """Opens an example and waits until its check and its choices are there."""
        self.choose("#examples", name)
        self.wait("document.getElementById('file').value.endsWith(arguments[0] + '.py')", name, name)
        self.settle()

    def settle(self):
        """Until no request is under way and none is about to start."""
        time.sleep(0.2)  # changes of the text are collected for a moment
        self.wait("document.getElementById('main').getAttribute('aria-busy') !== 'true'", "the page to settle")

    # --- grids ---

    def point_at(self, label, row, column):
        """Moves the pointer to a cell of the grid with this label."""
        place = self.grid(label, f"g.center_of({row}, {column})")
        chain = ActionChains(self.driver)
        chain.w3c_actions.pointer_action.move_to_location(int(place["x"]), int(place["y"]))
        chain.perform()

    def grid(self, label, expression):
        """The value of an expression over `g`, the grid whose label starts so."""
        return self.value(f"(g => {expression})(document.querySelector(`.grid[aria-label^='{label}']`).grid)")

    def wait_grid(self, label, expression):
        return self.wait(f"(g => g && {expression})(document.querySelector(`.grid[aria-label^='{label}']`)?.grid)")

    def marks(self, label):
        return sorted(self.grid(label, "[...g.marks]"))

    def grid_size(self, label):
        return self.grid(label, "[g.data.rows, g.data.cols]")

    def coloured(self, label):
        """How many cells have a colour."""
        return self.grid(label, "g.colors.filter(c => c !== null).length")

    def size(self, width, height):
        self.driver.set_window_size(width, height)

    def picture(self, name, selector="body"):
        """A picture of an element for the documents, when they are to be made anew."""
        if not os.environ.get("BLESS"):
            return
        import base64
        self.size(1500, 980)
        time.sleep(0.5)
        box = self.value("(b => ({x: b.x, y: b.y, width: b.width, height: b.height, scale: 1}))"
                         "(document.querySelector(arguments[0]).getBoundingClientRect())", selector)
        data = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "webp", "quality": 40, "clip": box})["data"]
        with open(os.path.join(ROOT, "docs/guide/screens", f"explorer_{name}.webp"), "wb") as file:
            file.write(base64.b64decode(data))
        self.size(*SIZES[0])


class PageTest(unittest.TestCase):
    """A test with a page; no message of the browser may be an error (a blocked script or style is one)."""

    def setUp(self):
        self.page = page
        page.driver.get_log("browser")

    def tearDown(self):
        errors = [entry["message"] for entry in page.driver.get_log("browser") if entry["level"] == "SEVERE"]
        wrong = [message for message in errors if not self.expected(message)]
        self.assertEqual(wrong, [], "errors in the browser's console")

    def expected(self, message):
        return False

    def compare(self, name, lines):
        """With a stored text; BLESS=1 stores it."""
        path = os.path.join(HERE, "golden", name + ".txt")
        text = "\n".join(lines) + "\n"
        if os.environ.get("BLESS"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), text, f"{name}: BLESS=1 accepts what is seen now")


def example_source(name):
    with open(os.path.join(ROOT, "examples", name), encoding="utf-8") as file:
        return file.read()
