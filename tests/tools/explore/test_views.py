# SPDX-License-Identifier: Apache-2.0
"""The views Layout, Choice, Code and Compare."""
import os

import browser
from browser import PageTest, example_source
from selenium.webdriver.common.keys import Keys

TILE = "Logical tile"
HARDWARE = "Hardware"

# The transpose without its swizzle: columns of the shared tile fall into one bank.
CONFLICTS = example_source("transpose.py").replace(
    "ComposeLayout(SwizzleLayout(3, 3, 3), TileLayout(S[(tile, tile // 64, 64) : (64, 64 * tile, 1)]))",
    "TileLayout(S[(tile, tile // 64, 64) : (64, 64 * tile, 1)])").replace("import ComposeLayout, S, SwizzleLayout, TileLayout", "import S, TileLayout")


class Layout(PageTest):
    @classmethod
    def setUpClass(cls):
        browser.page.open()
        browser.page.settle()

    def show(self, notation, dtype="float16", shape=""):
        self.page.choose("#layout-notation", notation)
        self.page.choose("#panel-layout label:nth-of-type(2) select", dtype)
        if shape:
            self.page.choose("#panel-layout label:nth-of-type(3) input", shape)
        self.page.settle()

    def test_the_first_shared_buffer_is_seen(self):
        self.page.open()
        self.page.settle()
        self.page.wait("document.getElementById('layout-buffer').value === 'staged'")
        self.assertEqual(self.page.grid_size(TILE), [64, 64])
        self.assertEqual(self.page.grid_size(HARDWARE), [64, 64])  # lines by halves of 32 banks
        self.page.wait_text("#panel-layout", "Hardware: line by bank")

    def test_a_buffer_of_registers(self):
        self.page.choose("#layout-buffer", "R")
        self.page.wait_text("#panel-layout", "Hardware: laneid by register")
        self.assertEqual(self.page.grid_size(HARDWARE), [32, 32])

    def test_hovering_the_tile_marks_the_hardware(self):
        self.show("mma_shared(float16,128B,64,64)")
        self.page.point_at(TILE, 1, 0)
        # Row 1 of the 128-byte swizzle: chunk 0 lies in chunk 1, 8 halves further.
        self.page.wait_grid(HARDWARE, "g.marks.size === 1")
        self.assertEqual(self.page.marks(HARDWARE), [1 * 64 + 8])
        self.page.wait_text("#panel-layout .says", "(1, 0) at m 72: byte 144, line 1, bank 4")

    def test_hovering_the_hardware_marks_the_tile(self):
        self.show("mma_shared(float16,128B,64,64)")
        self.page.point_at(HARDWARE, 1, 8)
        self.page.wait_grid(TILE, "g.marks.size === 1")
        self.assertEqual(self.page.marks(TILE), [64])

    def test_sliders_choose_the_warp_and_the_dimension(self):
        self.show("mma_tile(D,64x64,float32,2x2)", "float32")
        before = self.page.grid(HARDWARE, "g.data.say(0, 0)")
        self.page.choose("#panel-layout input[type=range]", "1")
        after = self.page.grid(HARDWARE, "g.data.say(0, 0)")
        self.assertEqual(before, "(0, 0) at laneid 0, m 0, warpid 0")
        self.assertIn("warpid 1", after)
        self.show("row_major(3,8,16)")
        self.page.choose("#panel-layout input[type=range]", "2")
        self.assertTrue(self.page.grid(TILE, "g.data.say(0, 0)").startswith("(2, 0, 0) at"))

    def test_tensor_memory(self):
        self.show("tmem_datapath(F,64,128)", "")
        self.page.wait_text("#panel-layout", "Hardware: TLane by TCol")
        self.assertEqual(self.page.grid_size(HARDWARE), [112, 128])

    def test_operations_and_their_undo_list(self):
        self.show("S[(8,16):(16,1)]", "")
        self.page.click_text("[aria-label=Operations] button", "permute")
        self.page.wait_text("#panel-layout .facts", "16 × 8")
        self.page.choose("[aria-label='Operation with its arguments']", "slice:0:4,0:4")
        self.page.click_text("#panel-layout button", "Apply")
        self.page.wait_text("#panel-layout .facts", "4 × 4")
        self.assertEqual(self.page.texts(".chips button"), ["layout", "permute:1,0", "slice:0:4,0:4", "Undo"])
        self.page.click("#layout-undo")
        self.page.wait_text("#panel-layout .facts", "16 × 8")
        self.page.click(".chips li:first-child button")
        self.page.wait_text("#panel-layout .facts", "8 × 16")

    def test_a_swizzle_is_an_operation(self):
        self.show("row_major(64,64)")
        self.page.click_text("[aria-label=Operations] button", "swizzle")
        self.page.wait_text("#panel-layout .facts", "ComposeLayout(3, 3, 3, S[(64,64):(64,1)])")

    def test_conflicts_of_an_access(self):
        self.show("row_major(64,64)")
        self.page.click("#layout-conflicts")
        self.page.wait_text("#panel-layout", "wavefronts 8, ideal 1, conflicts 7")
        self.show("mma_shared(float16,128B,64,64)")
        self.page.click("#layout-conflicts")
        self.page.wait_text("#panel-layout", "wavefronts 1, ideal 1, conflicts 0")
        self.assertEqual(self.page.grid(TILE, "g.data.text(7, 0)"), 7)  # the lane
        self.page.picture("layout", "#views")

    def test_a_wrong_notation_is_located(self):
        self.page.choose("#layout-notation", "S[(8")
        self.page.wait_text("#panel-layout [role=alert]", "expected `)`")

    def test_the_grid_by_keyboard(self):
        self.show("mma_shared(float16,128B,64,64)")
        self.page.js("document.querySelector(`.grid[aria-label='Logical tile']`).focus()")
        self.page.keys(Keys.ARROW_DOWN)
        spoken = "document.querySelector(`.grid[aria-label='Logical tile'] [role=gridcell]`).textContent"
        self.assertEqual(self.page.value(spoken), "(1, 0) at m 72: byte 144, line 1, bank 4")
        self.assertEqual(self.page.marks(HARDWARE), [72])


class Choice(PageTest):
    @classmethod
    def setUpClass(cls):
        browser.page.open()

    def setUp(self):
        super().setUp()
        self.page.set_source(example_source("transpose.py"))
        self.page.tab("choice")
        self.page.settle()
        self.page.wait("document.querySelectorAll('.list [role=option]').length === 4")

    def test_variants_with_reasons_and_cost(self):
        self.page.click(".list [role=option]:nth-child(2)")
        self.page.wait_text("#variants", "shared to local, expected global or shared memory on both sides")
        self.page.wait_text("#plan", "4 × ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16, 16 bytes")
        self.page.wait_text("#plan", "64, 64 at best: no bank conflicts")

    def test_moves_over_the_tile(self):
        self.page.click(".list [role=option]:nth-child(2)")
        self.page.wait_text("[aria-label=Moves]", "ldmatrix")
        self.page.wait_text("[aria-label=Moves]", "1 of 4")
        self.assertEqual(self.page.coloured("Moves"), 1024)  # 4 warps, each 4 matrices of 8 x 8
        self.page.click("#moves-next")
        self.page.wait_text("[aria-label=Moves]", "2 of 4")
        self.page.picture("choice", "#views")

    def engine(self, name, primitive, kernel=""):
        """The moves of a primitive of an example that no lane makes."""
        self.page.set_source(example_source(name))
        self.page.settle()
        self.page.wait(f"document.querySelectorAll('.list [role=option]').length >= {primitive}")
        self.page.click(f".list [role=option]:nth-child({primitive})")

    def picture(self, name):
        """Of the moves, which are below the tables; when pictures are made."""
        if not os.environ.get("BLESS"):
            return
        self.page.size(1500, 980)
        self.page.js("document.querySelector('.detail').scrollTop = 1e6")
        self.page.picture(name, "#views")

    def test_boxes_of_the_copy_engine(self):
        self.engine("gemm_hopper.py", 1)
        self.page.wait_text("[aria-label=Moves]", "1 of 8: cp.async.bulk.tensor.2d")
        self.assertEqual(self.page.grid_size("Source: A"), [128, 256])
        self.assertEqual(self.page.coloured("Source: A"), 128 * 64)
        self.assertEqual(self.page.coloured("Target: X_s[0"), 128 * 64)
        self.assertEqual(self.page.row("#moves-signals", "pool[229376]"),
                         ["pool[229376]", "0", "1", "16,384"])
        # The next box: further along k, and into the next stage.
        self.page.click("#moves-next")
        self.page.wait_grid("Target: X_s[1", "true")
        self.assertEqual(self.page.grid("Source: A", "g.colors.findIndex(c => c !== null)"), 64)
        # The same bytes on the other side.
        self.page.grid("Source: A", "g.move_to(1, 64)")
        self.page.wait_grid("Target: X_s[1", "g.marks.size === 1")
        self.assertEqual(self.page.marks("Target: X_s[1"), [64])
        self.picture("moves_tma")
        # Over memory (a row of A has four lines), row 1 of the swizzle has chunk 0 in the place of chunk 1, four banks further.
        self.page.choose("#moves-over", "memory")
        self.page.grid("Source: A", "g.move_to(4, 0)")
        self.page.wait_grid("Target: X_s, lines", "g.marks.size === 1")
        self.assertEqual(self.page.marks("Target: X_s, lines"), [32 + 4])
        self.page.choose("#moves-over", "tile")

    def test_slices_of_a_product(self):
        self.engine("gemm_hopper.py", 3)
        self.page.wait_text("[aria-label=Moves]", "1 of 32: wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 by 8 warps")
        self.assertEqual(self.page.coloured("A: X_s[0"), 128 * 16)
        self.assertEqual(self.page.coloured("B: Y_s[0"), 256 * 16)
        self.assertEqual(self.page.coloured("D: 2 warpgroups"), 128 * 256)
        # Element (70, 20) of D: row 70 of A, of the second warpgroup, and column 20 of B.
        self.page.grid("D: 2 warpgroups", "g.move_to(70, 20)")
        self.page.wait_text(".detail .says", "(70, 20): warp 4, lane 26, its element 8")
        self.assertEqual(self.page.marks("A: X_s[0"), [70 * 64 + k for k in range(16)])
        self.assertEqual(self.page.marks("B: Y_s[0"), [20 * 64 + k for k in range(16)])
        self.picture("moves_wgmma")

    def test_slices_of_a_multicast(self):
        self.engine("cluster_multicast.py", 2)
        self.page.wait_text("[aria-label=Moves]", "2 copies of 32 × 256 bytes, to CTA 0, 1")
        self.page.choose("#moves-colour", "CTA")
        for cta in ("0", "1"):
            self.page.choose("#moves-cta", cta)
            self.assertEqual(self.page.grid("Target: common", "[g.data.text(31, 0), g.data.text(32, 0)]"), [0, 1])
        self.assertEqual(self.page.value("[...document.querySelectorAll('#moves-signals tbody tr')]"
                                         ".map(r => [...r.cells].slice(1).map(c => c.textContent).join())"),
                         ["0,2,16,384", "1,2,16,384"])

    def test_what_has_no_picture_is_named(self):
        self.engine("tcgen05_cp.py", 2)
        self.page.wait_text(".detail", "`tcgen05_cp` has no picture of tcgen05.cp.cta_group::1.128x256b")

    def test_the_remedy_is_one_click(self):
        self.page.set_source(CONFLICTS)
        self.page.wait_text(".list", "448 conflicts")
        self.page.click(".list [role=option]:nth-child(2)")
        self.page.wait_text("#plan", "SwizzleLayout(3, 3, 3), needs 64 instead of 512 turns")
        self.page.click("#use-swizzle")
        self.page.wait("(t => t.includes('ldstmatrix') && !t.includes('conflicts'))(document.querySelector('.list').textContent)",
                       "the conflicts to go away")
        self.assertEqual(self.page.text("#problems-toggle"), "No problems")
        self.assertIn("layout=ComposeLayout(SwizzleLayout(3, 3, 3), shared)", self.page.source())

    def test_an_operand_opens_as_a_layout(self):
        self.page.click(".list [role=option]:nth-child(2)")
        self.page.wait_text("#panel-choice", "turned[0:64, 0:64]")
        self.page.click_text("#panel-choice td button", "S[(4,2,8,8,4,2)")
        self.page.wait_text("#panel-layout", "Hardware: laneid by register")


class Code(PageTest):
    @classmethod
    def setUpClass(cls):
        browser.page.open()
        browser.page.tab("code")
        browser.page.wait("document.querySelectorAll('.code-column').length === 3")

    def linked(self, title):
        return self.page.texts(f".code-column[aria-label='{title}'] .linked")

    def test_a_line_of_ptx_marks_where_it_came_from(self):
        self.page.click_text(".code-column[aria-label=PTX] .code-line", "ldmatrix")
        self.page.wait_text("#panel-code", "line 33 became")
        self.assertEqual(len(self.linked("Tile IR")), 1)
        self.assertIn("Tx.cta.copy(R_1[0:64, 0:64], turned[0:64, 0:64])", self.linked("Tile IR")[0])
        self.assertTrue(any("T.ptx.ldmatrix" in line for line in self.linked("Lowered IR")))
        self.assertTrue(self.page.value("!!document.querySelector('.CodeMirror-linebackground.linked')"))

    def test_the_caret_marks_what_a_line_became(self):
        self.page.js("const m = document.querySelector('.CodeMirror').CodeMirror; m.focus(); m.setCursor(34, 4)")
        self.page.wait_text("#panel-code", "line 35 became")
        self.assertTrue(any("stmatrix" in line for line in self.linked("PTX")))

    def test_machine_code_where_there_is_a_disassembler(self):
        if not self.page.value("!!document.querySelector('[data-form=sass]')"):
            self.assertIn("SASS needs ptxas and nvdisasm", self.page.text("#panel-code"))
            self.skipTest("no nvdisasm on the path")
        self.page.js("document.querySelector('[data-form=sass]').click()")
        self.page.wait("document.querySelector(`.code-column[aria-label='SASS']`)?.textContent.includes('LDSM')")
        self.page.click_text(".code-column[aria-label=SASS] .code-line", "LDSM")
        self.page.wait_text("#panel-code", "line 33 became")
        self.assertTrue(any("ldmatrix" in line for line in self.linked("PTX")))
        self.page.js("document.querySelector('[data-form=sass]').click()")
        self.page.wait("!document.querySelector(`.code-column[aria-label='SASS']`)")

    def test_forms_are_switched(self):
        self.page.js("document.querySelector('[data-form=cuda]').click()")
        self.page.wait("document.querySelector(`.code-column[aria-label='CUDA C++']`)?.textContent.includes('__global__')")
        self.page.js("document.querySelector('[data-form=cuda]').click()")
        self.page.wait("!document.querySelector(`.code-column[aria-label='CUDA C++']`)")


class Compare(PageTest):
    @classmethod
    def setUpClass(cls):
        browser.page.open()
        browser.page.settle()
        browser.page.tab("compare")
        browser.page.wait("document.querySelector('[data-side=b]')")

    def test_two_parameter_sets(self):
        self.page.choose("[data-side=b]", "build(tile=128)")
        self.page.click("#compare-go")
        self.page.wait_text("#compare-numbers", "warp instructions executed")
        self.assertEqual(self.page.row("#compare-numbers", "warp instructions executed")[1:], ["1,248", "792", "−36.5 %"])
        self.page.wait("/PTX: \\d+ of \\d+ lines differ/.test(document.querySelector('#ptx-diff caption')?.textContent ?? '')")
        self.assertEqual(self.page.row("#ptx-diff", "11"), ["11", ".reqntid 128, 1, 1", "11", ".reqntid 256, 1, 1"])
        self.assertIn(".reqntid 256, 1, 1", self.page.texts("#ptx-diff .new"))

    def test_equal_programs_have_no_difference(self):
        self.page.choose("[data-side=b]", "")
        self.page.click("#compare-go")
        self.page.wait_text("#ptx-diff caption", "PTX: equal")

    def test_an_error_names_the_side(self):
        self.page.choose("[data-side=b]", "build(tile=7)")
        self.page.click("#compare-go")
        self.page.wait_text("#panel-compare [role=status]", "build(tile=7)")
