// SPDX-License-Identifier: Apache-2.0
//
// The view `Layout`: a buffer of the kernel or any notation, the tile beside the hardware, operations with an undo
// list, and what an access by a warp costs in shared memory.

import {call, newest} from "./api.js";
import {rgb, scale} from "./colors.js";
import {button, el, field, number, put, select, text_input} from "./dom.js";
import {Grid} from "./grid.js";
import {LayoutModel} from "./layout_model.js";
import {state, update} from "./state.js";

const kDtypes = [
  "", "float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "int32", "uint32", "int64",
  "uint64", "float8_e4m3fn", "float4_e2m1fn"
];
// Operations with a button; the others are in the list beside.
const kButtons = [
  ["inverse", "inverse"], ["canon", "canon"], ["permute", "permute:1,0"], ["tile", "tile_to:128,128"],
  ["compose", "compose:S[(8,4):(1,8)]"], ["swizzle", "swizzle:3,3,3"], ["storage", "storage"]
];

const kRaw = /^(uint8|uint64)$/;  // pools are bytes, barriers have 64 bits

const ask = newest();
let model = null;
let buffers = [];
let reference = {ops: [], layouts: []};
let coloring = "";
let logical_at = [];
let hardware_at = [];
let access_cells = null;  // {lanes: Map(element -> lane)} of the access shown
let read_only = false;

const layout_ui = {};

// What is shown: a buffer, or a notation with type and shape.
function make_source_fields() {
  layout_ui.buffer = select([], "", (value) => choose_buffer(value), {id: "layout-buffer"});
  layout_ui.notation = text_input({
    id: "layout-notation",
    list: "layout-names",
    readonly: read_only,
    onchange: (e) => update({layout: {buffer: "", notation: e.target.value.trim(), shape: "", ops: []}})
  });
  layout_ui.names =
      el("datalist", {id: "layout-names"},
         (reference.layouts ?? []).map((row) => el("option", {value: row.example}, row.text)));
  layout_ui.dtype = select(
      kDtypes.map((d) => [d, d || "none"]), state.layout.dtype, (value) => update({layout: {dtype: value}}),
      {disabled: read_only});
  layout_ui.shape = text_input({
    size: 9,
    placeholder: "its own",
    readonly: read_only,
    onchange: (e) => update({layout: {shape: e.target.value.trim()}})
  });
  layout_ui.notation.setAttribute("aria-label", "Layout");
  return el(
      "div", {class: "tools"}, field("Buffer", layout_ui.buffer), layout_ui.notation, layout_ui.names,
      field("Type", layout_ui.dtype), field("Shape", layout_ui.shape));
}

export function make_layout_view(options) {
  reference = options.reference;
  read_only = options.read_only;
  layout_ui.ops = el("div", {class: "tools", role: "group", "aria-label": "Operations"});
  layout_ui.history =
      el("ol", {class: "chips", "aria-label": "Operations applied; press one to go back to it"});
  layout_ui.error = el("div", {role: "alert"});
  layout_ui.facts = el("div", {class: "facts"});
  layout_ui.sliders = el("div", {class: "tools"});
  layout_ui.logical_says = el("div", {class: "says", role: "status"});
  layout_ui.hardware_says = el("div", {class: "says", role: "status"});
  layout_ui.hardware_title = el("h2", {}, "Hardware");
  layout_ui.legend = el("div", {class: "legend"});
  layout_ui.access = el("div", {class: "tools", role: "group", "aria-label": "Access to shared memory"});
  layout_ui.access_says = el("div", {role: "status"});
  layout_ui.logical = new Grid("Logical tile", {on_hover: hover_logical, on_pick: pick_logical});
  layout_ui.hardware = new Grid("Hardware", {on_hover: hover_hardware, on_pick: hover_hardware});
  make_ops();
  make_access();
  const pair = el(
      "div", {class: "pair"},
      el("div", {class: "side"}, el("h2", {}, "Tile"), layout_ui.logical.node, layout_ui.logical_says),
      el("div", {class: "side"}, layout_ui.hardware_title, layout_ui.hardware.node, layout_ui.hardware_says));
  return [
    make_source_fields(), layout_ui.ops, layout_ui.history, layout_ui.error, layout_ui.facts,
    layout_ui.sliders, pair, layout_ui.legend, layout_ui.access, layout_ui.access_says
  ];
}

function make_ops() {
  const list = (reference.ops ??
                []).map((row) => [row.example, row.arguments ? `${row.name}:${row.arguments}` : row.name]);
  const argument = text_input({
    size: 26,
    "aria-label": "Operation with its arguments",
    value: list[0]?.[0] ?? "canon",
    disabled: read_only
  });
  const all = select(list.length ? list : [["canon", "canon"]], undefined, (value) => {
    argument.value = value;
  }, {"aria-label": "All operations", disabled: read_only, class: "short"});
  put(layout_ui.ops,
      kButtons.map(([name, op]) => button(name, () => apply(op, name), {disabled: read_only, title: op})),
      all, argument, button("Apply", () => apply(argument.value.trim()), {disabled: read_only}));
  layout_ui.argument = argument;
}

// Buttons apply at once what needs no choice; otherwise they fill in the field, to be changed and applied.
function apply(op, name) {
  const needs_choice =
      name && op.includes(":") && layout_ui.argument.value.split(":")[0] !== op.split(":")[0];
  if (needs_choice && name !== "swizzle" && name !== "permute") {
    layout_ui.argument.value = op;
    layout_ui.argument.focus();
    return;
  }
  const chosen = name && op.includes(":") && layout_ui.argument.value.split(":")[0] === op.split(":")[0] ?
      layout_ui.argument.value :
      op;
  update({layout: {ops: [...state.layout.ops, chosen]}});
}

function is_shared(buffer) { return buffer.scope.startsWith("shared"); }

function choose_buffer(name) {
  const buffer = buffers.find((b) => b.name === name);
  if (buffer) take_buffer(buffer);
}

// Without a buffer, a well-known layout to start from.
function take_buffer(buffer) {
  const {name, layout, dtype, shape} =
      buffer ?? {name: "", layout: "mma_shared(float16,128B,64,64)", dtype: "float16", shape: []};
  update({layout: {buffer: name, notation: layout, dtype, shape: (shape ?? []).join(","), ops: []}});
}

export function show_buffers(list) {
  buffers = list.filter((b) => b.shape?.length)
                .map((b) => ({...b, layout: b.layout ?? `row_major(${b.shape.join(",")})`}));
  put(layout_ui.buffer, el("option", {value: ""}, "a notation"),
      buffers.map((b) => el("option", {value: b.name}, `${b.name} (${b.scope})`)));
  layout_ui.buffer.value = buffers.some((b) => b.name === state.layout.buffer) ? state.layout.buffer : "";
  const now = buffers.find((b) => b.name === state.layout.buffer);
  if (now && now.layout !== state.layout.notation) take_buffer(now);
  if (state.layout.notation === "")
    take_buffer(
        buffers.find((b) => is_shared(b) && !kRaw.test(b.dtype)) ?? buffers.find(is_shared) ?? buffers[0]);
}

// The element type of the kernel's first buffer in shared memory, if there is one.
export function shared_dtype() {
  const shared = buffers.filter(is_shared).map((b) => b.dtype);
  return shared.find((dtype) => !kRaw.test(dtype)) ?? shared[0] ?? "";
}

export function show_operand(layout, dtype, region) {
  const name = region.split("[")[0];
  const whole = buffers.find((b) => b.name === name && b.layout === layout);
  update({
    tab: "layout",
    layout: {
      buffer: whole ? name : "",
      notation: layout,
      dtype,
      shape: whole ? (whole.shape ?? []).join(",") : "",
      ops: []
    }
  });
}

// `swizzle:B,M,S` is not an operation of the program: it wraps the layout so far.
async function resolve(request, ops) {
  let notation = request.notation;
  let shape = request.shape;
  let waiting = [];
  for (const op of ops) {
    if (!op.startsWith("swizzle:")) {
      waiting.push(op);
      continue;
    }
    const so_far = await call("layout", {...request, notation, shape, ops: waiting});
    if (!so_far.layout) return {error: so_far.error};
    notation = `ComposeLayout(${op.slice(8)},${so_far.layout.layout})`;
    shape = so_far.layout.shape.join(",");
    waiting = [];
  }
  return {...request, notation, shape, ops: waiting};
}

export async function show_layout() {
  const {notation, shape, dtype, ops} = state.layout;
  if (document.activeElement !== layout_ui.notation) layout_ui.notation.value = notation;
  if (document.activeElement !== layout_ui.shape) layout_ui.shape.value = shape;
  if (![...layout_ui.dtype.options].some((o) => o.value === dtype))
    layout_ui.dtype.append(el("option", {value: dtype}, dtype));
  layout_ui.dtype.value = dtype;
  layout_ui.buffer.value = buffers.some((b) => b.name === state.layout.buffer) ? state.layout.buffer : "";
  show_history();
  if (notation === "") return;
  try {
    const request = await resolve({notation, shape, dtype}, ops);
    const answer = request.error ? {layout: null, error: request.error} : await ask("layout", request);
    if (answer) show_answer(answer, request);
  } catch (error) {
    show_answer({layout: null, error: error.message});
  }
}

function show_history() {
  const {ops} = state.layout;
  const items = ["layout", ...ops].map(
      (op, i) =>
          el("li", {}, i ? "→ " : "",
             button(
                 op, () => update({layout: {ops: ops.slice(0, i)}}),
                 {"aria-pressed": i === ops.length, title: i === ops.length ? "now" : "go back to this"})));
  put(layout_ui.history, ops.length ? items : [],
      ops.length ?
          el("li", {}, button("Undo", () => update({layout: {ops: ops.slice(0, -1)}}), {id: "layout-undo"})) :
          null);
}

function show_answer(answer, request) {
  const {layout, error} = answer;
  put(layout_ui.error, error ? el("div", {class: "wrong"}, error) : null);
  if (!layout) return;
  put(layout_ui.facts, el("b", {class: "mono"}, layout.layout),
      ` — ${layout.shape.join(" × ")}, ${number(layout.size)} elements, ${number(layout.places)} places`,
      layout.copies > 1 ? `, ${layout.copies} copies of each` : "",
      layout.injective ? "" : ", several elements share a place",
      `, ${Math.round(1000 * layout.coverage) / 10} % of the box used`,
      (layout.answers ?? []).map((a) => el("span", {}, " · ", el("b", {}, a.op), " ", a.text)));
  if (!layout.map) {
    put(layout_ui.error,
        el("div", {class: "hint"},
           layout.map_omitted ?? "This layout depends on run-time values: nothing to enumerate."));
    return;
  }
  model = new LayoutModel(layout);
  model.request = request;
  access_cells = null;
  put(layout_ui.access_says);
  logical_at = model.logical_sliders.map(() => 0);
  hardware_at = model.sliders.map(() => 0);
  coloring = model.colorings()[coloring] ? coloring : model.first_coloring();
  layout_ui.access.hidden = !model.banks;
  show_sliders();
  show_access_presets();
  draw_grids();
}

function slider(name, extent, from, value, changed) {
  const output = el("output", {}, value + from);
  const input = el("input", {
    type: "range",
    min: 0,
    max: extent - 1,
    value,
    "aria-label": name,
    oninput: () => {
      output.textContent = Number(input.value) + from;
      changed(Number(input.value));
      draw_grids(true);
    }
  });
  return field(name, el("span", {class: "field"}, input, output));
}

function show_sliders() {
  const parts = [
    ...model.logical_sliders.map(
        (s, i) => slider(
            `tile ${s.name}`, s.extent, 0, 0,
            (v) => {
              logical_at[i] = v;
            })),
    ...model.sliders.map(
        (s, i) => slider(
            s.name, s.extent, s.min, 0,
            (v) => {
              hardware_at[i] = v;
            }))
  ];
  const colors = select(Object.keys(model.colorings()), coloring, (value) => {
    coloring = value;
    draw_grids(true);
  });
  put(layout_ui.sliders, field("Colour by", colors), parts);
}

// With an access, only the elements that it touches are coloured, and named by their lane.
function color_of(element) {
  const {of, max} = model.colorings_now;
  const seen = element >= 0 && (!access_cells || access_cells.lanes.has(element));
  return seen ? scale(of(element) / max) : null;
}

function tile_data() {
  const element = (r, c) => model.element_at(r, c, logical_at);
  const lanes = access_cells?.lanes;
  return {
    rows: model.rows,
    cols: model.cols,
    group: 8,
    color: (r, c) => color_of(element(r, c)),
    text: (r, c) => (lanes ? lanes.get(element(r, c)) : model.colorings_now.of(element(r, c))),
    say: (r, c) => say_element(element(r, c))
  };
}

function hardware_data() {
  const {hw} = model;
  const slice = hardware_at.join();
  const first = (r, c) => model.elements_in(r, c, slice)[0] ?? -1;
  const lanes = access_cells?.lanes;
  const bank = (c) => Math.floor(c / hw.per_bank * (hw.cols < 32 ? 32 / hw.cols : 1));
  return {
    rows: hw.rows,
    cols: hw.cols,
    group: hw.group,
    row_title: (r) => r + (hw.row_from ?? 0),
    col_title: (c) => (hw.per_bank ? bank(c) : c + (hw.col_from ?? 0)),
    color: (r, c) => color_of(first(r, c)),
    text: (r, c) => (lanes ? lanes.get(first(r, c)) : model.coordinate(first(r, c)).slice(-2).join(",")),
    say: (r, c) => model.elements_in(r, c, slice).map(say_element).join("; ") || "empty"
  };
}

function draw_grids(keep = false) {
  model.colorings_now = model.colorings()[coloring];
  layout_ui.hardware_title.textContent = `Hardware: ${model.hw.row_name} by ${model.hw.col_name}`;
  layout_ui.logical.show(tile_data(), keep);
  layout_ui.hardware.show(hardware_data(), keep);
  show_legend();
}

function show_legend() {
  const bar = el("canvas", {width: 120, height: 10, "aria-hidden": "true"});
  const context = bar.getContext("2d");
  for (let x = 0; x < 120; ++x) {
    context.fillStyle = rgb(scale(x / 119));
    context.fillRect(x, 0, 1, 10);
  }
  put(layout_ui.legend, `${coloring} 0`, bar, model.colorings_now.max,
      access_cells ? el("span", {}, "; numbers are lanes of the access") : null);
}

function say_element(e) {
  return e < 0 ? "empty" : `(${model.coordinate(e).join(", ")}) at ${model.place_text(e)}`;
}

function hover_logical(r, c) {
  if (!model) return;
  const e = r < 0 ? -1 : model.element_at(r, c, logical_at);
  if (e < 0) return clear_marks();
  const slice = hardware_at.join();
  layout_ui.hardware.mark(model.where[e].filter((w) => w.slice === slice).map((w) => w.cell));
  layout_ui.logical.mark([r * model.cols + c]);
  layout_ui.logical_says.textContent = say_element(e);
  layout_ui.hardware_says.textContent =
      model.where[e].some((w) => w.slice === slice) ? "" : "in another slice: click to go there";
}

// A click also moves the sliders of the hardware to the element.
function pick_logical(r, c) {
  const e = model.element_at(r, c, logical_at);
  if (e < 0) return;
  const {p} = model.where[e][0];
  model.sliders.forEach((s, i) => {
    hardware_at[i] = p[s.name] - s.min;
  });
  [...layout_ui.sliders.querySelectorAll("input[type=range]")]
      .slice(model.logical_sliders.length)
      .forEach((input, i) => {
        input.value = hardware_at[i];
        input.nextElementSibling.textContent = hardware_at[i] + model.sliders[i].min;
      });
  draw_grids(true);
  hover_logical(r, c);
}

function hover_hardware(r, c) {
  if (!model) return;
  const elements = r < 0 ? [] : model.elements_in(r, c, hardware_at.join());
  if (elements.length === 0) return clear_marks();
  layout_ui.logical.mark(elements.map((e) => model.logical_cell(e, logical_at)).filter((cell) => cell >= 0));
  layout_ui.hardware.mark([r * model.hw.cols + c]);
  layout_ui.hardware_says.textContent = elements.map(say_element).slice(0, 3).join("; ");
  layout_ui.logical_says.textContent = "";
}

function clear_marks() {
  layout_ui.logical.mark([]);
  layout_ui.hardware.mark([]);
  layout_ui.logical_says.textContent = "";
  layout_ui.hardware_says.textContent = "";
}

// --- an access of a warp ---

function make_access() {
  layout_ui.preset = select([], undefined, (value) => {
    layout_ui.pattern.value = value;
    show_access();
  }, {"aria-label": "Kinds of access", disabled: read_only});
  layout_ui.pattern = text_input({
    size: 34,
    "aria-label": "Access: layout from lane and element to index, vec, lanes",
    disabled: read_only
  });
  put(layout_ui.access, el("h2", {}, "Access of a warp"), layout_ui.preset, layout_ui.pattern,
      button("Count bank conflicts", show_access, {id: "layout-conflicts", disabled: read_only}),
      button("Clear", () => {
        access_cells = null;
        put(layout_ui.access_says);
        draw_grids(true);
      }));
}

function show_access_presets() {
  if (!model.banks) return;
  const bits = model.answer.element_bits;
  const columns = model.shape.at(-1);
  const rows = Math.max(1, Math.floor(model.size / columns));
  const vec = Math.max(1, Math.min(columns, Math.floor(128 / bits)));
  const down = Math.min(32, rows);
  const eight = Math.min(8, rows);
  const presets = [
    [`S[(${eight},${vec}):(${columns},1)],vec=${vec},lanes=${eight}`, "ldmatrix: 8 rows of 16 bytes"],
    [`S[(32,1):(1,1)],lanes=32`, "a row: one element a lane"],
    [`S[(${down},1):(${columns},1)],lanes=${down}`, "a column: one element a lane"]
  ];
  put(layout_ui.preset, presets.map(([value, text]) => el("option", {value}, text)));
  layout_ui.pattern.value = presets[0][0];
}

async function show_access() {
  const dtype = state.layout.dtype || "float16";
  const text = layout_ui.pattern.value.trim();
  try {
    const request = {...model.request, ops: [...(model.request.ops ?? []), `conflicts:${dtype},${text}`]};
    const answer = await call("layout", request);
    if (!answer.layout) throw new Error(answer.error);
    const [said] = answer.layout.answers.slice(-1);
    const lanes = await lanes_of(text);
    access_cells = {lanes};
    const {conflicts} = said.answer;
    put(layout_ui.access_says, el("span", {class: conflicts ? "hint" : "fine"}, said.text));
    draw_grids(true);
  } catch (error) {
    put(layout_ui.access_says, el("div", {class: "wrong"}, error.message));
  }
}

// element -> lane, by the access's own layout
async function lanes_of(text) {
  const notation = text.replace(/,(vec|lanes)=\d+/g, "");
  const answer = await call("layout", {notation, shape: "", dtype: "", ops: []});
  const lanes = new Map();
  const {layout} = answer;
  if (!layout?.map) return lanes;
  const per_lane = layout.size / layout.shape[0];
  layout.map.forEach((places, i) => {
    for (const p of places) lanes.set(p.m, Math.floor(i / per_lane));
  });
  return lanes;
}
