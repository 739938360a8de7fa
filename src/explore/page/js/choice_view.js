// SPDX-License-Identifier: Apache-2.0
//
// The view `Choice`: the primitives of the kernel; for the selected one its operands, every variant's verdict, what
// is executed and what it costs, the remedy, and the moves of the lanes round by round over the tile.

import {baked, newest} from "./api.js";
import {scale} from "./colors.js";
import {button, el, field, number, put, rove, select, svg, table} from "./dom.js";
import {Grid} from "./grid.js";
import {show_operand} from "./layout_view.js";
import {parse_args} from "./params.js";
import {swizzle_edits, swizzle_in} from "./remedy.js";
import {program, state, update} from "./state.js";

const ask_moves = newest();
const choice_ui = {};
let explained = null;
let groups = [];  // instructions of all warps that belong together
let group_of = -1;
let choice_options = {};
let color_by = "lane";

export function make_choice_view(given) {
  choice_options = given;
  choice_ui.list = el("div", {class: "list", role: "listbox", "aria-label": "Primitives of the kernel"});
  choice_ui.detail = el(
      "div", {class: "detail", tabindex: 0, role: "region", "aria-label": "The choice for this primitive"});
  rove(choice_ui.list, "[role=option]", (item) => item.click());
  choice_ui.grid = new Grid("Moves over the tile", {on_hover: hover_move, on_pick: hover_move});
  choice_ui.moves = el("div", {class: "tools", role: "group", "aria-label": "Moves"});
  choice_ui.says = el("div", {class: "says mono", role: "status"});
  return [el("div", {class: "columns"}, choice_ui.list, choice_ui.detail)];
}

export function show_choice(answer) {
  explained = answer;
  group_of = -1;
  const primitives = answer.primitives ?? [];
  if (primitives.length === 0) {
    put(choice_ui.list);
    put(choice_ui.detail,
        el("p", {class: "note"},
           answer.diagnostics?.length ? "The kernel has errors: see the problems below." :
                                        "This kernel has no tile primitives."));
    return;
  }
  put(choice_ui.list, primitives.map((p, i) => {
    const conflicts = p.plan?.wavefronts?.conflicts ?? 0;
    return el(
        "div", {role: "option", "data-index": i, onclick: () => choose_primitive(i)}, el("code", {}, p.call),
        ` line ${p.at?.line ?? "?"}`,
        el("span", {class: "sub"}, p.chosen ?? "no variant",
           conflicts ? ` · ${number(conflicts)} conflicts` : ""));
  }));
  show_primitive();
}

function choose_primitive(index) {
  if (explained.primitives[index]?.at) choice_options.editor.reveal(explained.primitives[index].at.line);
  update({choice: {primitive: index, round: 0}});
}

export function show_primitive() {
  const primitives = explained?.primitives ?? [];
  if (primitives.length === 0) return;
  const index = Math.min(state.choice.primitive, primitives.length - 1);
  [...choice_ui.list.children].forEach((item, i) => {
    item.setAttribute("aria-selected", i === index);
    item.tabIndex = i === index ? 0 : -1;
  });
  const p = primitives[index];
  choice_options.editor.mark_lines(p.at ? [p.at.line] : [], "linked");
  if (group_of === index) return show_moves();
  put(choice_ui.detail,
      el("h2", {}, el("code", {}, p.call), ` by ${p.threads}`,
         p.at ? [" ", button(`line ${p.at.line}`, () => choice_options.choose_line(p.at.line))] : null),
      operands_table(p), variants_table(p), p.plan ? plan_section(p) : null, choice_ui.moves,
      choice_ui.grid.node, choice_ui.says);
  if (state.tab === "choice") load_moves(index);
}

// Moves take a run of the kernel: only when they are seen.
export function choice_shown() {
  if ((explained?.primitives ?? []).length > 0 && group_of !== state.choice.primitive) show_primitive();
}

function operands_table(p) {
  return table(
      "Operands", ["", "region", "type", "memory", "layout"],
      p.operands.map(
          (o) =>
              [o.role, el("code", {}, o.region), o.dtype, o.scope,
               o.layout ? button(
                              o.layout, () => show_operand(o.layout, o.dtype, o.region),
                              {class: "mono", title: "show this layout"}) :
                          "row-major, extents of run time"]));
}

function variants_table(p) {
  const verdict = (v) => el("span", {class: `verdict-${v.verdict.split(" ")[0]}`}, v.verdict);
  const asked = p.variants.filter((v) => v.verdict !== "not asked");
  const others = p.variants.filter((v) => v.verdict === "not asked");
  return table(
      "Variants, in the order in which they are asked", ["variant", "verdict", "rule", "reason"],
      [
        ...asked.map(
            (v) =>
                [el("code", {}, v.variant), verdict(v), v.rule ? el("code", {}, v.rule) : "",
                 v.reason ?? ""]),
        ...(others.length ?
                [[el("code", {}, others.map((v) => v.variant).join(", ")), verdict(others[0]), "", ""]] :
                [])
      ],
      {id: "variants"});
}

function plan_section(p) {
  const {plan} = p;
  const executes = plan.instructions.map((i) => `${i.per_thread} × ${i.opcode}, ${i.bytes} bytes`);
  const rows = [
    ["plan", plan.summary], ["executes", el("code", {class: "lines"}, executes.join("\n"))],
    [
      "moves",
      `${number(plan.elements)} elements, ${number(plan.bytes)} bytes, by ${plan.threads} threads in ${
          plan.rounds} rounds`
    ],
    ["registers", `${plan.registers} of 32 bits per thread`]
  ];
  if (plan.product)
    rows.push(["product", `${plan.product.tiling}, ${number(plan.product.flops)} operations`]);
  if (plan.wavefronts) rows.push(["wavefronts", wavefronts(plan.wavefronts)]);
  if (plan.remedy) rows.push(["remedy", el("span", {}, plan.remedy, " ", remedy_button(p))]);
  for (const note of plan.notes) rows.push(["note", note]);
  return table("Cost", ["", ""], rows, {id: "plan"});
}

function wavefronts({needed, ideal, conflicts}) {
  const width = 160;
  const bar =
      svg("svg", {
        width,
        height: 12,
        class: "meter chart",
        role: "img",
        "aria-label": `${needed} wavefronts, ${ideal} at best`
      },
          svg("rect", {class: "bar-two", width, height: 12}),
          svg("rect", {class: "bar-one", width: width * ideal / Math.max(1, needed), height: 12}));
  return el(
      "span", {},
      `${number(needed)}, ${number(ideal)} at best: ${
          conflicts ? `${number(conflicts)} lost to bank conflicts` : "no bank conflicts"}`,
      bar);
}

function remedy_button(p) {
  const numbers = swizzle_in(p.plan.remedy);
  if (!numbers || choice_options.read_only) return null;
  return button("Use this swizzle", () => {
    const shared = p.operands.filter((o) => o.scope.startsWith("shared")).map((o) => o.region.split("[")[0]);
    for (const name of shared) {
      const own = explained.buffers.find((b) => b.name === name);
      const edits = own ? swizzle_edits(choice_options.editor.text(), name, own.layout, numbers) : null;
      if (!edits) continue;
      choice_options.editor.edit(edits);
      choice_ui.says.textContent = `the layout of ${name} has the swizzle now`;
      return;
    }
    choice_ui.says.textContent =
        `write it by hand: the declaration of ${shared.join(" or ")} is not a plain T.alloc_…(…)`;
  }, {class: "main", id: "use-swizzle"});
}

// --- moves ---

async function load_moves(index) {
  groups = [];
  put(choice_ui.moves, el("span", {class: "note"}, "recording the moves on the virtual GPU …"));
  choice_ui.grid.node.hidden = true;
  try {
    const {at} = explained.primitives[index];
    const request = baked ?
        {primitive: index} :
        {...program(), line: at?.line ?? 0, column: at?.column ?? 0, args: parse_args(state.run.args)};
    const answer = await ask_moves("moves", request);
    if (!answer) return;
    if (answer.errors || !answer.instructions) throw new Error(answer.errors || "nothing was recorded");
    groups = group_moves(answer.instructions);
    group_of = index;
    show_moves();
  } catch (error) {
    put(choice_ui.moves, el("span", {class: "note"}, `no moves to draw: ${error.message}`));
  }
}

// One group: the same line of PTX in the same round, by all warps.
export function group_moves(instructions) {
  const by_key = new Map();
  for (const i of instructions) {
    const key = `${i.line}:${i.round}`;
    if (!by_key.has(key)) by_key.set(key, {...i, parts: []});
    by_key.get(key).parts.push(i);
  }
  return [...by_key.values()];
}

function show_moves() {
  if (groups.length === 0) {
    const engine = /\b(cp\.async\.bulk|cp\.reduce\.async|wgmma|tcgen05)/.test(
        JSON.stringify(explained.primitives[group_of].plan?.instructions ?? []));
    put(choice_ui.moves,
        el("span", {class: "note"},
           engine ? "No lane moves these bytes: the copy engine or the tensor core does." :
                    "No lane of block 0 touches memory here."));
    return;
  }
  const at = Math.min(state.choice.round, groups.length - 1);
  const group = groups[at];
  const go = (to) => update({choice: {round: Math.max(0, Math.min(groups.length - 1, to))}});
  const slider = el("input", {
    type: "range",
    min: 0,
    max: groups.length - 1,
    value: at,
    "aria-label": "Instruction and round",
    id: "moves-slider",
    oninput: (event) => go(Number(event.target.value))
  });
  const focused = document.activeElement?.id;
  put(choice_ui.moves, el("h2", {}, "Moves"),
      button("◀", () => go(at - 1), {"aria-label": "Previous", disabled: at === 0}), slider,
      button(
          "▶", () => go(at + 1),
          {"aria-label": "Next", disabled: at === groups.length - 1, id: "moves-next"}),
      el("span", {}, `${at + 1} of ${groups.length}: `, el("code", {}, group.opcode),
         ` ${group.bytes} bytes a lane`, group.buffer ? ` of ${group.buffer}` : ""),
      field("Colour by", select(["lane", "warp"], color_by, (value) => {
              color_by = value;
              draw_moves(group);
            })));
  if (focused) document.getElementById(focused)?.focus();
  draw_moves(group);
}

function draw_moves(group) {
  const cells = move_cells(group);
  choice_ui.cells = cells;
  choice_ui.grid.node.hidden = false;
  const warps = Math.max(1, ...group.parts.map((p) => p.warp));
  const color = (m) => (color_by === "lane" ? scale(m.lane / 31) : scale(m.warp / warps));
  choice_ui.grid.show(
      {
        rows: cells.rows,
        cols: cells.cols,
        group: cells.group ?? 8,
        color: (r, c) => {
          const m = cells.at.get(r * cells.cols + c);
          return m ? color(m) : null;
        },
        text: (r, c) => cells.at.get(r * cells.cols + c)?.[color_by] ?? "",
        say: (r, c) => say_move(r, c)
      },
      true);
  const turns = group.parts.reduce((sum, p) => sum + (p.wavefronts ?? 0), 0);
  const ideal = group.parts.reduce((sum, p) => sum + (p.ideal ?? 0), 0);
  choice_ui.says.textContent = `${cells.title}${turns ? `; ${turns} wavefronts, ${ideal} at best` : ""}`;
}

// Over the buffer's tile when elements are known, else over banks and lines of the addresses.
function move_cells(group) {
  const buffer = explained.buffers?.find((b) => b.name === group.buffer);
  const known =
      buffer?.shape?.length && group.parts.every((p) => p.elements?.every((list) => list?.length > 0));
  return known ? tile_cells(group, buffer) : bank_cells(group);
}

function tile_cells(group, buffer) {
  const shape = buffer.shape;
  const cols = shape.at(-1);
  const rows = shape.slice(0, -1).reduce((a, b) => a * b, 1);
  const at = new Map();
  for (const p of group.parts) {
    p.elements.forEach((list, k) => {
      for (const flat of list) {
        at.set(flat, {lane: p.lanes[k], warp: p.warp, address: p.addresses[k]});
      }
    });
  }
  return {rows, cols, at, title: `the tile of ${buffer.name}, ${shape.join(" × ")}`};
}

const kMaxLines = 4096;

function bank_cells(group) {
  const at = new Map();
  const all = group.parts.flatMap((p) => p.addresses);
  const first = Math.floor(Math.min(...all) / 128) * 128;
  for (const p of group.parts) {
    p.addresses.forEach((address, k) => {
      for (let byte = 0; byte < group.bytes; byte += 4) {
        const offset = address + byte - first;
        at.set(Math.floor(offset / 4), {lane: p.lanes[k], warp: p.warp, address});
      }
    });
  }
  const rows = Math.min(kMaxLines, Math.floor((Math.max(...all) + group.bytes - 1 - first) / 128) + 1);
  return {
    rows,
    cols: 32,
    at,
    group: 8,
    title: `lines of 128 bytes by banks, from address ${first} of ${group.space} memory`
  };
}

function say_move(r, c) {
  const m = choice_ui.cells.at.get(r * choice_ui.cells.cols + c);
  return m ? `(${r}, ${c}): warp ${m.warp}, lane ${m.lane}, address ${m.address}` :
             "not moved by this instruction";
}

function hover_move(r, c) {
  if (r < 0 || !choice_ui.cells) return choice_ui.grid.mark([]);
  const m = choice_ui.cells.at.get(r * choice_ui.cells.cols + c);
  const mine = m ?
      [...choice_ui.cells.at].filter(([, o]) => o.lane === m.lane && o.warp === m.warp).map(([
                                                                                              cell
                                                                                            ]) => cell) :
      [];
  choice_ui.grid.mark(mine);
  choice_ui.says.textContent = say_move(r, c);
}
