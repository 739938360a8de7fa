// SPDX-License-Identifier: Apache-2.0
//
// The moves of a primitive in the view `Choice`: a slider over its instructions and rounds, and a picture of each side
// of the one chosen: the tile that lanes touch; source and target of a copy by the copy engine; A, B and D of a product.

import {scale} from "./colors.js";
import {button, el, field, number, plural, put, select, table} from "./dom.js";
import {Grid} from "./grid.js";
import {colourings, ctas_of, group_moves, is_product, is_related, issuing_cta, side_cells, sides_of, signals_of} from "./move_cells.js";
import {state, update} from "./state.js";

const kSideNames = {
  lanes: "Moves over",
  from: "Source:",
  to: "Target:",
  A: "A:",
  B: "B:",
  D: "D:"
};
// Instructions that move elements; others work out addresses.
const kMoving = /^(cp|ld|st|red|atom|mma|wgmma|wmma|tcgen05|ldmatrix|stmatrix|movmatrix|shfl)\b/;
const moves_ui = {
  panes: []
};
let moves = {groups: [], fragments: []};
let shown = null;  // {group, buffers, cells: by pane}
// How it is shown.
let color_by = "";
let over = "tile";  // or "memory"
let shown_cta = 0;

export function make_moves() {
  moves_ui.tools = el("div", {class: "tools", role: "group", "aria-label": "Moves"});
  for (let i = 0; i < 3; ++i) {
    const on = (r, c) => hover_move(i, r, c);
    const grid = new Grid("Moves", {on_hover: on, on_pick: on});
    const title = el("h3", {});
    moves_ui.panes.push({grid, title, node: el("div", {class: "side"}, title, grid.node)});
  }
  moves_ui.pictures = el("div", {class: "moves"}, moves_ui.panes.map((pane) => pane.node));
  moves_ui.says = el("div", {class: "says mono", role: "status"});
  moves_ui.signals = el("div", {});
  clear_pictures();
  return [moves_ui.tools, moves_ui.pictures, moves_ui.says, moves_ui.signals];
}

export function say_in_moves(text) { moves_ui.says.textContent = text; }

// A message instead of pictures.
export function no_moves(text) {
  moves = {groups: [], fragments: []};
  clear_pictures();
  put(moves_ui.tools, el("span", {class: "note"}, text));
}

function clear_pictures() {
  shown = null;
  moves_ui.pictures.hidden = true;
  moves_ui.says.textContent = "";
  put(moves_ui.signals);
}

// answer: of the call `moves`; primitive: of `explain`.
export function set_moves(answer, primitive, buffers) {
  moves = group_moves(answer);
  if (moves.groups.length === 0) return no_moves(why_no_picture(primitive));
  const {is_cut, ctas, warps_per_cta} = answer;
  Object.assign(moves, {is_cut, ctas, warps_per_cta, buffers, note: without_picture(primitive)});
  show_moves();
}

function why_no_picture(p) {
  if (!p.plan) return "No variant takes this call, so nothing moves.";
  return without_picture(p) ?? `\`${p.chosen}\` has no picture: it touches no memory in the blocks recorded.`;
}

// Names what the plan executes and no row shows; null: all of it is shown.
function without_picture(p) {
  const shown_ones = new Set(moves.groups.map((group) => group.opcode));
  const opcodes = (p.plan?.instructions ?? []).map((i) => i.opcode);
  const missing = opcodes.filter((opcode) => kMoving.test(opcode) && !shown_ones.has(opcode));
  if (missing.length === 0) return null;
  return `\`${p.chosen}\` has no picture of ${
      missing.join(", ")}: the layouts of the operands say who holds what.`;
}

export function show_moves() {
  const {groups} = moves;
  if (groups.length === 0) return;
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
  put(moves_ui.tools, el("h2", {}, "Moves"),
      button("◀", () => go(at - 1), {"aria-label": "Previous", disabled: at === 0}), slider,
      button(
          "▶", () => go(at + 1),
          {"aria-label": "Next", disabled: at === groups.length - 1, id: "moves-next"}),
      el("span", {}, `${at + 1} of ${number(groups.length)}${moves.is_cut ? " and more" : ""}: `,
         el("code", {}, group.opcode), ` ${amount(group)}`),
      how_shown(group));
  if (focused) document.getElementById(focused)?.focus();
  draw_group(group);
}

function how_shown(group) {
  const ways = colourings(group);
  if (!ways.includes(color_by)) color_by = ways[0];
  const ctas = ctas_of(group, moves);
  if (!ctas.includes(shown_cta)) shown_cta = ctas[0] ?? 0;
  const choice = (label, id, options, chosen, choose) => field(label, select(options, chosen, (value) => {
                                                                 choose(value);
                                                                 draw_group(group);
                                                               }, {id}));
  return [
    choice(
        "Colour by", "moves-colour", ways, color_by,
        (value) => {
          color_by = value;
        }),
    choice(
        "Over", "moves-over", ["tile", "memory"], over,
        (value) => {
          over = value;
        }),
    ctas.length > 1 ? choice(
                          "In CTA", "moves-cta", ctas.map(String), String(shown_cta),
                          (value) => {
                            shown_cta = Number(value);
                          }) :
                      null
  ];
}

// What one of the group moves, in words.
function amount(group) {
  const {lanes, from, to, D} = group.sides;
  if (lanes) return `${lanes[0].bytes} bytes a lane${lanes[0].buffer ? ` of ${lanes[0].buffer}` : ""}`;
  if (D) return `by ${plural(new Set(D.map((d) => d.warp)).size, "warp")}`;
  const ctas = [...new Set(to.map((t) => t.cta))].filter((cta) => cta !== null);
  const many = from.length > 1 ? `${from.length} copies of ` : "";
  const rows = from[0].rows > 1 ? `${number(from[0].rows)} × ` : "";
  return `${many}${rows}${number(from[0].row_bytes)} bytes` +
      (moves.ctas > 1 && ctas.length ? `, to CTA ${ctas.sort((a, b) => a - b).join(", ")}` : "");
}

function draw_group(group) {
  const sides = sides_of(group);
  const how = {cta: shown_cta, by_lines: over === "memory"};
  const cells = sides.map((side) => side_cells(side, group, moves, how));
  shown = {group, sides, cells};
  moves_ui.pictures.hidden = false;
  moves_ui.panes.forEach((pane, i) => {
    pane.node.hidden = i >= sides.length;
    if (i < sides.length) draw_pane(pane, sides[i], cells[i]);
  });
  moves_ui.says.textContent = turns_text(group);
  put(moves_ui.signals, signals_table(group), moves.note ? el("p", {class: "note"}, moves.note) : null);
}

function draw_pane(pane, side, cells) {
  const title = `${kSideNames[side]} ${cells.title}`;
  pane.title.textContent = title;
  pane.title.title = title + (cells.more ?? "");
  pane.grid.node.setAttribute("aria-label", title);
  pane.node.style.flexGrow = Math.max(1, Math.min(3, cells.cols / 64));
  const color = move_colors(cells);
  pane.grid.mark([]);
  pane.grid.show(
      {
        rows: cells.rows,
        cols: cells.cols,
        group: cells.group,
        color: (r, c) => {
          const cell = cells.at.get(r * cells.cols + c);
          return cell ? color(cell) : null;
        },
        text: (r, c) => cell_text(cells.at.get(r * cells.cols + c)),
        row_title: (r) => r + cells.first_row,
        col_title: (c) => c + cells.first_column,
        say: (r, c) => say_cell(side, cells, r, c)
      },
      true);
}

function move_colors(cells) {
  const values = [...cells.at.values()].map(shade_value).filter((v) => v !== undefined);
  const least = values.reduce((a, b) => Math.min(a, b), Infinity);
  const most = values.reduce((a, b) => Math.max(a, b), -Infinity);
  return (cell) => {
    const value = shade_value(cell);
    return scale(value === undefined ? 0.5 : (value - least) / (most - least || 1));
  };
}

// What the colour of a cell tells; undefined: it is the same for all.
function shade_value(cell) {
  if (color_by === "CTA") return issuing_cta({warp: cell.issued_by}, moves);
  return cell[color_by];
}

function cell_text(cell) {
  if (!cell) return "";
  if (color_by === "row" || color_by === "column") return cell.line;
  return shade_value(cell) ?? "";
}

// --- words ---

function turns_text(group) {
  const rows = group.sides.lanes;
  if (!rows) return "";
  const turns = rows.reduce((sum, p) => sum + (p.wavefronts ?? 0), 0);
  const ideal = rows.reduce((sum, p) => sum + (p.ideal ?? 0), 0);
  return turns ? `${turns} wavefronts, ${ideal} at best` : "";
}

function say_cell(side, cells, r, c) {
  const cell = cells.at.get(r * cells.cols + c);
  const place = `(${r + cells.first_row}, ${c + cells.first_column})`;
  if (!cell) return `${place}: not moved by this instruction`;
  if (cell.address === undefined)
    return `${place}: warp ${cell.warp}, lane ${cell.lane}, its element ${cell.index}`;
  if (cell.at === undefined)
    return `${place}: warp ${cell.warp}, lane ${cell.lane}, address ${number(cell.address)}`;
  const by = side === "B" ? "read for all warps" :
      side === "A"        ? `read for warp ${cell.warp}` :
                            `issued by warp ${cell.issued_by}, lane ${cell.issuer}`;
  return `${place}: address ${number(cell.address)}, byte ${number(cell.at)} of what is moved, ${by}`;
}

function signals_table(group) {
  const signals = signals_of(group);
  if (signals.length === 0) {
    if (!group.sides.to) return null;
    return el("p", {class: "note"}, "No mbarrier hears of it: the issuing thread waits for its bulk group.");
  }
  return table(
      "Bytes that mbarriers hear of", ["mbarrier", "of CTA", "copies", "bytes"],
      signals.map(
          (s) =>
              [el("code", {}, s.buffer === null ? `shared + ${s.address}` : `${s.buffer}[${s.element}]`),
               s.cta, s.copies, number(s.bytes)]),
      {id: "moves-signals", class: "numeric"});
}

function hover_move(at, r, c) {
  if (!shown || at >= shown.sides.length) return;
  const side = shown.sides[at];
  const cell = r < 0 ? undefined : shown.cells[at].at.get(r * shown.cells[at].cols + c);
  shown.cells.forEach((cells, i) => {
    const mine = [];
    if (cell) {
      for (const [key, other] of cells.at)
        if (is_related(cell, side, shown.sides[i], other)) mine.push(key);
    }
    moves_ui.panes[i].grid.mark(mine);
  });
  moves_ui.says.textContent = r < 0 ? turns_text(shown.group) : say_cell(side, shown.cells[at], r, c);
}
