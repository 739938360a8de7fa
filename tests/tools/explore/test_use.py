# SPDX-License-Identifier: Apache-2.0
"""Use by everyone and at any size: names, roles, contrast, tab order, nothing covered, a stored structure of every
view; and frame times with large contents."""
import time

import browser
import checks
from browser import PageTest
from selenium.webdriver.common.keys import Keys

VIEWS = ["layout", "choice", "code", "run", "compare"]
MOST_TABS = 150


class Use(PageTest):
    def view(self, name):
        self.page.tab(name)
        self.page.settle()
        if name == "choice":
            self.page.wait_text("[aria-label=Moves]", "1 of")
        if name == "run":
            self.page.click("#run-go")
            self.page.wait("document.querySelector('.state').dataset.moment", "the state of a moment")

    def tearDown(self):
        self.page.size(*browser.SIZES[0])
        super().tearDown()

    def test_every_view_is_accessible_in_light_and_dark(self):
        self.page.open()
        self.page.settle()
        for name in VIEWS:
            self.view(name)
            self.assertEqual(self.page.js(checks.ACCESSIBILITY), [], name)
        for theme in ("light", "dark"):
            self.page.click("#theme")
            self.assertEqual(self.page.value("document.documentElement.dataset.theme"), theme)
            for name in VIEWS:
                self.page.tab(name)
                self.assertEqual(self.page.js(checks.CONTRAST), [], f"{name}, {theme}")
        self.page.click("#theme")

    def test_the_checks_find_planted_faults(self):
        self.page.open()
        self.page.settle()
        self.page.js("""
            const b = document.createElement('button'); b.id = 'planted'; b.tabIndex = 3;
            const t = document.createElement('p'); t.textContent = 'pale';
            t.style.color = 'rgb(200 200 200)'; t.style.background = 'rgb(255 255 255)';
            const c = document.createElement('button'); c.textContent = 'over';
            c.style.position = 'absolute'; c.style.inset = '0 auto auto 200px';
            document.querySelector('header').append(b, t, c);""")
        accessibility = "\n".join(self.page.js(checks.ACCESSIBILITY))
        self.assertIn("no name: <button", accessibility)
        self.assertIn("positive tabindex", accessibility)
        self.assertIn('"pale"', "\n".join(self.page.js(checks.CONTRAST)))
        self.assertIn('"over"', "\n".join(self.page.js(checks.OVERLAPS)))

    def test_tab_reaches_every_control(self):
        self.page.open()
        self.page.settle()
        wanted = set(self.page.js(checks.REACHABLE))
        reached = set()
        self.page.js("document.body.focus(); document.activeElement.blur()")
        for _ in range(MOST_TABS):
            self.page.keys(Keys.TAB)
            reached.add(self.page.js(checks.FOCUSED))
            if wanted <= reached:
                break
        self.assertEqual(sorted(wanted - reached), [])

    def test_structure_of_every_view(self):
        self.page.open()
        self.page.settle()
        for name in VIEWS:
            self.view(name)
            seen = [line for line in self.page.js(checks.STRUCTURE) if '"SASS"' not in line]  # only with a disassembler
            self.compare(f"view_{name}", seen)
            for size in browser.SIZES:
                self.page.size(*size)
                self.assertEqual(self.page.js(checks.OVERLAPS), [], f"{name} at {size}")
            self.page.size(*browser.SIZES[0])

    def test_shortcuts(self):
        self.page.open()
        self.page.settle()
        self.page.chord(Keys.ALT, "3")
        self.page.wait("document.querySelector('#tabs [aria-selected=true]').textContent === 'Code'")
        self.assertEqual(self.page.value("document.activeElement.id"), "tab-code")
        self.page.keys(Keys.ARROW_LEFT)
        self.page.wait("document.querySelector('#tabs [aria-selected=true]').textContent === 'Choice'")
        self.page.keys(Keys.F1)
        self.page.wait("document.getElementById('keys').open")
        self.page.keys(Keys.ESCAPE)
        self.page.wait("!document.getElementById('keys').open")
        self.page.js("document.getElementById('splitter').focus()")
        self.page.keys(Keys.ARROW_RIGHT)
        self.assertEqual(self.page.value("document.getElementById('splitter').getAttribute('aria-valuenow')"), "43")

    def frames(self, what, selector, kind, count=60):
        times = sorted(self.page.driver.execute_async_script(checks.FRAMES, selector, kind, count))
        print(f"\n  {what}: median {times[len(times) // 2]:.1f} ms a frame, slowest {times[-1]:.1f} ms ", end="")
        return times

    def test_large_contents_stay_smooth(self):
        """Prints frame times; only the work is checked, not the clock."""
        self.page.driver.set_script_timeout(60)
        self.page.open()
        self.page.settle()
        self.page.choose("#layout-notation", "mma_shared(float16,128B,128,256)")
        self.page.wait("document.querySelector(`.grid[aria-label='Logical tile']`).grid.data.cols === 256")
        self.page.js("for (const g of document.querySelectorAll('#panel-layout .grid')) { g.grid.cw = 12; g.grid.ch = 12; }")
        self.assertEqual(len(self.frames("layout of 128 x 256", "#panel-layout .grid", "grid")), 58)
        self.page.tab("run")
        self.page.js("""
            const lanes = Array.from({length: 40}, (_, w) => ({kind: 'warps', block: '(0,0,0)', name: `warp ${w}`, warps: [w, w],
              spans: Array.from({length: 2500}, (_, i) => ({kind: i % 2 ? 'mbarrier' : 'runs', begin: 20 * i, end: 20 * i + 18,
                                                            open: false, what: 'full[0]'}))}));
            document.querySelector('.timeline').timeline.show({step: 'round', from: 0, to: 50000, lanes, arrows: []});""")
        self.assertEqual(len(self.frames("timeline of 100,000 spans", ".timeline", "timeline")), 58)
