# SPDX-License-Identifier: Apache-2.0
"""The view Run: progress, time travel, timeline, memory, findings, counters."""
import json
import os
import re

import browser
from browser import PageTest, example_source
from selenium.webdriver.common.keys import Keys

# Counts for ever: only cancelling ends it before the limit on instructions does.
ENDLESS = '''from tvm.script import tirx as T


@T.prim_func
def endless(A_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32,), "int32")
    T.device_entry()
    T.cta_id([1])
    T.warp_id([1])
    lane = T.lane_id([32])
    A[lane] = 0
    while A[lane] >= 0:
        A[lane] = (A[lane] + 1) % 1000
'''


class RunTest(PageTest):
    @staticmethod
    def run_kernel(name=None, source=None):
        page = browser.page
        page.open()
        if name:
            page.example(name)
        if source:
            page.set_source(source)
            page.settle()
        page.tab("run")
        page.click("#run-go")
        page.wait("!document.getElementById('run-go').disabled", "the run to end")

    def moment(self):
        return int(self.page.value("document.getElementById('run-slider').value"))

    def line(self):
        found = re.search(r"line (\d+)", self.page.text("#run-where"))
        return int(found[1]) if found else 0

    def go(self, moment):
        """To a moment, and waits for its state."""
        self.page.choose("#run-slider", str(moment))
        self.page.wait("document.querySelector('.state').dataset.moment === arguments[0]", f"the state of moment {moment}",
                       str(moment))

    def lanes(self):
        """The names of the timeline's rows."""
        return self.page.value("document.querySelector('.timeline').timeline.lanes.map(l => l.name || l.full)")

    def step(self, by, back=False):
        self.page.choose("#step-by", by)
        self.page.click("#step-back" if back else "#step-on")
        return self.moment()


class Run(RunTest):
    def test_runs_and_reports(self):
        self.page.open()
        self.page.tab("run")
        self.page.choose("#panel-run input[placeholder^=B]", "B == A.T")
        self.page.click("#run-go")
        self.page.wait_text("#run-says", "finished")
        self.page.wait_text("#run-says", "1,248 warp instructions · no findings")
        self.page.wait_text("#run-says", "B == A.T holds")
        self.page.click("#part-result")
        self.page.wait_text("#buffers", "float16")

    def test_a_finding_jumps_to_its_moment(self):
        self.run_kernel(source=example_source("findings/race.py"))
        self.page.wait_text("#run-says", "1 finding")
        self.page.wait_text("#run-part", "with nothing to order the two")
        self.page.click(".go-moment")
        self.assertGreater(self.moment(), 0)
        self.assertEqual(self.line(), 16)

    def test_a_hang_shows_who_waits_for_what(self):
        self.run_kernel(source=example_source("findings/hang.py"))
        self.page.wait_text("#run-says", "deadlock")
        self.page.click(".go-moment")
        self.page.wait("document.querySelector('.state').dataset.moment === document.getElementById('run-slider').value")
        self.assertEqual(self.page.row(".warps", "0")[1:3], ["producer", "mbarrier pipe_empty[0]"])
        self.assertEqual(self.page.row(".warps", "1")[1:3], ["consumer", "mbarrier pipe_full[0]"])
        self.assertEqual(self.page.row("#barriers", "pipe_empty[0]")[2:4], ["0", "32 of 32"])
        marked = "document.querySelectorAll('.CodeMirror-linebackground.cursor').length"
        self.page.wait(f"{marked} === 2", "the lines of both waits to be marked")
        last = self.page.value("document.querySelector('.timeline').timeline.lanes.find(l => l.name === 'warp 0').spans.at(-1)")
        self.assertEqual((last["kind"], last["what"], last["open"]), ("mbarrier", "pipe_empty[0]", True))

    def test_a_product_has_roles_bytes_and_counters(self):
        self.run_kernel("gemm_hopper")
        self.assertEqual([name for name in self.lanes() if not name.startswith(("warp", "cp", "wgmma", "pipe"))],
                         ["consumer", "producer"])
        self.page.click("#part-roles")
        self.assertRegex(self.page.row("#roles", "producer")[6], "pipe_empty")
        # The producer announces the bytes of a stage, and the engine brings them.
        lane = "document.querySelector('.timeline').timeline.lanes.find(l => l.name === 'pipe_full[0]')"
        self.assertEqual(self.page.value(f"Math.max(...{lane}.spans[0].points.map(p => p.bytes))"), 49152)
        step = self.page.value(f"{lane}.spans[0].points.find(p => p.bytes > 0).step")
        self.page.js("document.querySelector('.timeline').timeline.on_step(arguments[0])", step)
        self.page.wait("document.querySelector('.state').dataset.moment === document.getElementById('run-slider').value")
        self.assertEqual(self.page.row("#barriers", "pipe_full[0]")[2:], ["0", "0 of 1", "49152"])
        self.page.click("#part-counters")
        self.page.wait("document.querySelectorAll('#run-part svg rect').length >= 8")

    def test_a_long_run_is_covered_and_zoomed_into(self):
        self.page.open()
        self.page.example("pipeline")
        self.page.choose("#params input[name=lines]", "1200")
        self.page.settle()
        self.page.tab("run")
        self.page.click("#run-go")
        self.page.wait_text("#timeline-notes", "are merged")
        timeline = "document.querySelector('.timeline').timeline"
        self.assertGreater(self.page.value(f"{timeline}.end"), 20000)
        merged = self.page.value(f"{timeline}.lanes[3].spans.find(s => s.merged > 1)")
        self.assertGreater(merged["runs"], 0)
        self.page.js(f"{timeline}.look(5000, 5300)")
        self.page.wait("document.querySelector('.timeline').dataset.detail === '4850-5450'", "the details")
        self.assertEqual(self.page.value(f"{timeline}.row(3).spans.filter(s => s.merged).length"), 0)
        self.page.js(f"{timeline}.fit()")
        self.assertGreater(self.page.value(f"{timeline}.row(3).spans.filter(s => s.merged).length"), 0)

    def test_counters_are_charts(self):
        self.run_kernel()
        self.page.click("#part-counters")
        self.page.wait("document.querySelectorAll('#run-part svg rect').length >= 8")
        label = self.page.value("document.querySelector('#run-part svg').getAttribute('aria-label')")
        self.assertIn("integer 400", label)
        self.assertIn("matrix 128", label)

    def test_a_run_can_be_cancelled(self):
        self.page.open()
        self.page.set_source(ENDLESS)
        self.page.settle()
        self.page.tab("run")
        self.page.click("#run-go")
        self.page.wait_text("#run-says", "running, ")
        self.page.click("#run-cancel")
        self.page.wait_text("#run-says", "cancelled")
        self.page.wait("!document.getElementById('run-go').disabled")

    def test_an_example_brings_its_own_expectation(self):
        self.run_kernel("pipeline")
        self.page.wait_text("#run-says", "B == 2 * A holds")
        self.page.example("transpose")
        self.page.wait_text("#run-says", "changed since this run")
        self.page.click("#run-go")
        self.page.wait_text("#run-says", "B == A.T holds")

    def test_tensor_memory_is_a_heat_map(self):
        self.run_kernel("tcgen05_epilogue")
        self.page.click("#part-tensor")
        last = int(self.page.value("document.getElementById('run-slider').max"))
        self.go(last * 8 // 10)
        self.page.wait_grid("Tensor memory", "g.data.rows === 128 && g.data.cols > 0")
        self.assertGreater(self.page.coloured("Tensor memory"), 128)

    def test_a_failed_run_leaves_nothing_to_step_through(self):
        self.run_kernel("pipeline")
        self.page.choose("#panel-run input[placeholder^=B]", "B == Q")
        self.page.click("#run-go")
        self.page.wait_text("#run-says", "no parameter `Q`")
        self.assertEqual(self.page.value("document.getElementById('run-slider').max"), "0")

    def test_wrong_arguments_are_named(self):
        self.page.open()
        self.page.tab("run")
        self.page.choose("#panel-run input[placeholder^=A]", "nonsense")
        self.page.click("#run-go")
        self.page.wait_text("#run-says", "argument `nonsense`, expected NAME=VALUE")
        self.page.choose("#panel-run input[placeholder^=A]", "Q=ones")
        self.page.click("#run-go")
        self.page.wait_text("#run-says", "Q")


class TimeTravel(RunTest):
    """One run of a producer and three consumers, seen at many moments."""

    @classmethod
    def setUpClass(cls):
        cls.run_kernel("pipeline")

    def test_steps_forwards_and_backwards(self):
        self.page.click("#part-ptx")
        self.go(0)
        self.assertEqual(self.step("instruction"), 1)
        self.assertEqual(self.step("instruction"), 2)
        self.assertEqual(self.step("instruction", back=True), 1)
        before = self.line()
        there = self.step("source line")
        self.assertGreater(there, 1)
        self.assertNotEqual(self.line(), before)
        barrier = self.step("barrier")
        self.page.wait("document.querySelector('#run-part .cursor')?.textContent.includes('bar')", "a barrier at the cursor")
        self.assertGreater(self.step("barrier"), barrier)
        self.assertEqual(self.step("barrier", back=True), barrier)

    def test_state_is_the_same_on_the_way_back(self):
        self.page.click("#part-registers")
        def registers():
            return self.page.grid("Registers", "Array.from({length: g.data.rows}, (_, r) => g.data.say(r, 3))")

        self.go(300)
        self.page.wait_grid("Registers", "g.data.rows > 0")
        there = registers()
        self.go(700)
        self.assertNotEqual(registers(), there)
        self.go(300)
        self.assertEqual(registers(), there)

    def test_memory_is_a_heat_map(self):
        self.page.click("#part-shared")
        self.go(0)
        self.page.wait_grid("Shared memory", "g.data.rows > 0")
        self.assertEqual(self.page.coloured("Shared memory"), 0)
        self.go(500)
        self.assertGreater(self.page.coloured("Shared memory"), 128)
        self.page.picture("run")

    def test_barriers_have_phases(self):
        self.go(500)
        full = self.page.row("#barriers", "pipe_full[0]")
        self.assertRegex(full[2], r"^\d+$")
        self.assertRegex(full[3], r"^\d+ of 32$")

    def test_the_timeline_moves_the_cursor(self):
        lanes = self.lanes()
        self.assertEqual(lanes[:6], ["producer", "warp 0", "consumer", "warp 1", "warp 2", "warp 3"])
        self.assertIn("pipe_full[0]", lanes)
        self.page.js("document.querySelector('.timeline').timeline.on_step(100)")
        self.assertIn("step 100", self.page.text("#run-where"))
        self.page.js("document.querySelector('.timeline').timeline.lane = 0; document.querySelector('.timeline').focus()")
        self.page.keys(Keys.ARROW_DOWN)
        spoken = self.page.text(".timeline [role=gridcell]")
        self.assertTrue(spoken.startswith("warp 0 runs"), spoken)
        self.page.keys(Keys.ARROW_DOWN)
        spoken = self.page.text(".timeline [role=gridcell]")
        self.assertTrue(spoken.startswith("role consumer: warps 1-3, `warp > 0` (pipeline.py:40): runs "), spoken)

    def test_roles_have_names_and_shares(self):
        self.go(500)
        self.page.click("#part-roles")
        producer, consumer = self.page.row("#roles", "producer"), self.page.row("#roles", "consumer")
        self.assertEqual(producer[1:3], ["warp == 0", "100 %"])
        self.assertRegex(consumer[6], r"^pipe_full \d+ %, barrier 0 \d+ %$")
        self.assertEqual(self.page.row(".warps", "2")[:2], ["2", "consumer"])
        self.assertIn("warp 0 (producer)", self.page.texts("#step-warp option"))


# Answers what a machine with a GPU answers, on one without.
STAND_IN = """
const real = window.fetch;
window.fetch = async (url, options) => {
  if (String(url).endsWith("api/run") && JSON.parse(options.body).device === "cuda")
    return new Response(FIXTURE.lines, {headers: {"Content-Type": "application/x-ndjson"}});
  const answer = await real(url, options);
  if (!String(url).endsWith("api/start")) return answer;
  return new Response(JSON.stringify({...await answer.json(), gpu: FIXTURE.gpu}));
};
"""


class GpuTimes(RunTest):
    """With the reply of an H200 that fixtures/h200_transpose.json has."""

    @classmethod
    def setUpClass(cls):
        with open(os.path.join(browser.HERE, "fixtures", "h200_transpose.json"), encoding="utf-8") as file:
            stored = json.load(file)
        lines = "\n".join(json.dumps(line) for line in ({"job": 1}, {"result": stored["result"]})) + "\n"
        fixture = json.dumps({"gpu": stored["gpu"], "lines": lines})
        cls.script = browser.page.driver.execute_cdp_cmd(
            "Page.addScriptToEvaluateOnNewDocument", {"source": f"const FIXTURE = {fixture};{STAND_IN}"})["identifier"]

    @classmethod
    def tearDownClass(cls):
        browser.page.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": cls.script})

    def test_times_stand_beside_the_estimate(self):
        self.run_kernel("transpose")
        self.page.wait_text("#run-says", "1,248 warp instructions")
        self.page.choose("#run-device", "cuda")
        self.page.click("#run-go")
        self.page.wait_text("#run-says", "median 6.4 µs of 20 launches (5.7 to 11.9 µs) on NVIDIA H200")
        said = self.page.text("#run-says")
        self.assertIn("B == A.T holds", said)
        self.assertIn("estimate", said)
        self.assertNotIn("warp instructions", said)
