// SPDX-License-Identifier: Apache-2.0
//
// The view `Compare`: two kernels, or one with two sets of parameters: numbers side by side and the difference of
// their PTX, with register numbers left out of account on demand.

import {call, stream} from "./api.js";
import {button, el, field, number, put, select, table} from "./dom.js";
import {parse_args} from "./params.js";
import {program, state, update} from "./state.js";

const kContext = 3;  // equal lines kept around a difference
const kMaxRows = 4000;
const compare_ui = {};
let compare_options = {};
let ignore_registers = true;
let compared = null;

export function make_compare_view(given) {
  compare_options = given;
  compare_ui.a = el("fieldset", {}, el("legend", {}, "A"));
  compare_ui.b = el("fieldset", {}, el("legend", {}, "B"));
  compare_ui.run = el("input", {type: "checkbox", checked: true, id: "compare-run"});
  compare_ui.registers = el("input", {
    type: "checkbox",
    checked: true,
    id: "compare-registers",
    onchange: (e) => {
      ignore_registers = e.target.checked;
      show_difference();
    }
  });
  compare_ui.go =
      button("Compare", compare, {class: "main", id: "compare-go", disabled: compare_options.read_only});
  compare_ui.says = el("span", {role: "status"});
  compare_ui.numbers = el("div", {});
  compare_ui.difference =
      el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Difference of the PTX"});
  return [
    el("div", {class: "sides"}, compare_ui.a, compare_ui.b),
    el("div", {class: "tools"}, compare_ui.go, field("run both on the virtual GPU", compare_ui.run),
       field("ignore register numbers", compare_ui.registers), compare_ui.says),
    compare_ui.numbers, compare_ui.difference
  ];
}

export function compare_shown() {
  if (compare_options.read_only)
    put(compare_ui.says, "a read-only copy cannot compile: start `warpwright explore`");
  const here = program();
  if (!state.compare.a && here.source) update({compare: {a: here, b: {...here}}});
  show_side(compare_ui.a, "a");
  show_side(compare_ui.b, "b");
}

function show_side(fieldset, name) {
  const side = state.compare[name];
  const legend = el("legend", {}, name.toUpperCase());
  if (!side) return void put(fieldset, legend, "nothing yet");
  const change = (what) => (event) =>
      update({compare: {[name]: {...state.compare[name], [what]: event.target.value.trim()}}});
  put(fieldset, legend, el("code", {}, side.file), field("Kernel", el("input", {
                                                           type: "text",
                                                           value: side.kernel,
                                                           placeholder: "the file's kernel",
                                                           "data-side": name,
                                                           onchange: change("kernel"),
                                                           readonly: compare_options.read_only
                                                         })),
      field("Target", select(compare_options.info.targets, side.target, null, {
              onchange: change("target"),
              disabled: compare_options.read_only
            })),
      button("Take what the editor has", () => {
        update({compare: {[name]: program()}});
        show_side(fieldset, name);
      }, {disabled: compare_options.read_only}));
}

async function measure(side) {
  const [code, explain] = await Promise.all([call("code", {...side, forms: ["ptx"]}), call("explain", side)]);
  const column = code.columns?.find((c) => c.form === "ptx");
  if (!column?.text?.length)
    throw new Error(`${side.kernel || side.file}: ${
        code.diagnostics?.[0]?.message ?? column?.error ?? "does not compile"}`);
  const result = {side, ptx: column.text, explain: explain.explain ?? {}, run: null};
  if (!compare_ui.run.checked) return result;
  const request =
      {...side, args: parse_args(state.run.args), expects: [], schedule: "rr", record: false, device: "sim"};
  await stream("run", request, (line) => {
    if (line.result) result.run = line.result;
  });
  if (compare_options.info.gpu)
    await stream("run", {...request, device: "cuda"}, (line) => {
      if (line.result) result.gpu = line.result;
    }).catch(() => {});
  return result;
}

async function compare() {
  compare_ui.go.disabled = true;
  put(compare_ui.says, el("span", {class: "note"}, "compiling both …"));
  put(compare_ui.numbers);
  put(compare_ui.difference);
  try {
    const {a, b} = state.compare;
    compared = {a: await measure(a), b: await measure(b)};
    put(compare_ui.says);
    show_numbers();
    await show_difference();
  } catch (error) {
    put(compare_ui.says, el("span", {class: "wrong"}, error.message));
  }
  compare_ui.go.disabled = false;
}

function is_instruction(line) {
  return /^\s+(@!?%\w+\s+)?[a-z]\w*(\.\w|\s|;)/.test(line) && !/^\s*\./.test(line);
}

function opcode(line) { return /^\s*(?:@!?%\w+\s+)?([a-z][\w]*(?:\.[\w:]+)*)/.exec(line)?.[1] ?? ""; }

function numbers_of({ptx, explain, run, gpu}) {
  const count = (test) => ptx.filter((l) => is_instruction(l) && test.test(opcode(l))).length;
  const waves = explain.primitives?.reduce((sum, p) => sum + (p.plan?.wavefronts?.conflicts ?? 0), 0);
  const lines = run?.counters?.lines ?? null;
  const sum = (name) => (lines ? lines.reduce((total, l) => total + (l[name] ?? 0), 0) : null);
  const time = gpu?.report?.time?.median_seconds;
  return {
    "variants chosen": explain.primitives?.map((p) => p.chosen ?? "none").join(", ") ?? "–",
    "instructions in the PTX": ptx.filter(is_instruction).length,
    "loads and stores": count(/^(ld|st|ldmatrix|stmatrix|cp|red|atom)\b/),
    "products": count(/^(mma|wgmma|tcgen05\.mma)/),
    "barriers": count(/^(bar|barrier|mbarrier)\b/),
    "bank conflicts expected": waves,
    "warp instructions executed": run?.report?.steps ?? null,
    "wavefronts of shared memory": sum("wavefronts"),
    "sectors of global memory": sum("sectors"),
    "estimate, cycles an SM": run?.counters?.estimate?.cycles ?? null,
    "outcome": run?.report ?
        (run.report.findings.length ? `${run.report.findings.length} findings` : run.report.outcome) :
                                      run?.errors ?? null,
    "median time on the GPU, µs": time ? Number((1e6 * time).toFixed(1)) : null,
  };
}

function show_numbers() {
  const [a, b] = [numbers_of(compared.a), numbers_of(compared.b)];
  const text = (v) => (typeof v === "number" ? number(v) : v ?? "–");
  const change = (x, y) =>
      (typeof x === "number" && typeof y === "number" && x > 0 ?
           `${y >= x ? "+" : "−"}${Math.abs(Math.round(1000 * (y - x) / x) / 10)} %` :
           "");
  const rows = Object.keys(a)
                   .filter((name) => a[name] !== null || b[name] !== null)
                   .map((name) => [name, text(a[name]), text(b[name]), change(a[name], b[name])]);
  put(compare_ui.numbers,
      table("Numbers", ["", "A", "B", "B against A"], rows, {class: "numeric", id: "compare-numbers"}));
}

function plain(line) {
  const text = line.replaceAll("\t", " ").trimEnd();
  return ignore_registers ? text.replace(/%([a-z]+)\d+/g, "%$1") : text;
}

async function show_difference() {
  if (!compared) return;
  try {
    const {a, b} = compared;
    const {rows} = await call("diff", {left: a.ptx.map(plain), right: b.ptx.map(plain)});
    put(compare_ui.difference, diff_table(side_by_side(rows), a.ptx, b.ptx));
  } catch (error) {
    put(compare_ui.difference, el("div", {class: "wrong"}, error.message));
  }
}

// Lines that only one side has, in one stretch: the first beside the first, and so on.
export function side_by_side(rows) {
  const result = [];
  let [left, right] = [[], []];
  const flush = () => {
    for (let i = 0; i < Math.max(left.length, right.length); ++i)
      result.push([left[i] ?? 0, right[i] ?? 0, false]);
    [left, right] = [[], []];
  };
  for (const row of rows) {
    const [l, r, same] = row;
    if (same) {
      flush();
      result.push(row);
      continue;
    }
    if (l) left.push(l);
    if (r) right.push(r);
  }
  flush();
  return result;
}

// Equal stretches are folded to their ends.
function folded(rows) {
  const near = new Uint8Array(rows.length);
  rows.forEach(([, , same], i) => {
    if (same) return;
    near.fill(1, Math.max(0, i - kContext), Math.min(rows.length, i + kContext + 1));
  });
  const result = [];
  for (let i = 0; i < rows.length; ++i) {
    if (near[i])
      result.push(rows[i]);
    else if (result.at(-1)?.folded)
      ++result.at(-1).folded;
    else
      result.push({folded: 1});
  }
  return result;
}

function diff_table(rows, left, right) {
  const changed = rows.filter(([, , same]) => !same).length;
  const caption = changed ? `PTX: ${number(changed)} of ${number(rows.length)} lines differ` : "PTX: equal";
  const body = folded(rows).slice(0, kMaxRows).map((row) => {
    if (row.folded) return el("tr", {class: "fold"}, el("td", {colspan: 4}, `${row.folded} equal lines`));
    const [l, r, same] = row;
    const cell = (line, text, kind) =>
        [el("td", {class: "no"}, line || ""),
         el("td", {class: same || !line ? "code" : `code ${kind}`},
            line ? text[line - 1].replaceAll("\t", "  ") : "")];
    return el("tr", {}, cell(l, left, "gone"), cell(r, right, "new"));
  });
  return el(
      "table", {class: "diff", id: "ptx-diff"}, el("caption", {}, caption),
      el("colgroup", {}, el("col", {class: "no"}), el("col"), el("col", {class: "no"}), el("col")),
      el("tbody", {}, body));
}
