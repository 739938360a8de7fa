// SPDX-License-Identifier: Apache-2.0
//
// What a picture of moves shows, without drawing it: accesses and work of the copy engine and the tensor core become
// groups (one instruction in one round, by all who execute it), and each side of a group a grid of cells, over the
// buffer's tile where its elements are known, else over lines and banks of its memory.

import {number} from "./dom.js";

const kMaxCells = 1 << 20;  // of one picture
const kLineBytes = 128;

// The sides of a group in the order in which they are shown.
const kSides = ["lanes", "from", "to", "A", "B", "D"];

// One group: the same line of PTX in the same round, by all warps. In the order of execution.
export function group_moves({instructions, engine = [], fragments = []}) {
  const groups = new Map();
  const rows = [...instructions.map((row) => ({...row, side: "lanes"})), ...engine];
  rows.sort((a, b) => a.moment - b.moment);
  for (const row of rows) {
    const key = `${row.line}:${row.round}`;
    if (!groups.has(key)) groups.set(key, {opcode: row.opcode, line: row.line, round: row.round, sides: {}});
    const sides = groups.get(key).sides;
    (sides[row.side] ??= []).push(row);
  }
  return {groups: [...groups.values()], fragments};
}

export function sides_of(group) { return kSides.filter((side) => group.sides[side]); }

export function is_product(group) { return Boolean(group.sides.D); }

// What cells may be coloured by; row and column are those of the box.
export function colourings(group) {
  if (group.sides.lanes) return ["lane", "warp"];
  return is_product(group) ? ["warp", "lane"] : ["row", "column", "CTA"];
}

// The CTAs that have a side of the group in their memory or registers.
export function ctas_of(group, moves) {
  const homes = Object.values(group.sides).flat().map((row) => home_of(row, moves));
  return [...new Set(homes)].filter((cta) => cta !== null).sort((a, b) => a - b);
}

export function issuing_cta(row, moves) { return Math.floor(row.warp / moves.warps_per_cta); }

function home_of(row, moves) { return row.space === "registers" ? issuing_cta(row, moves) : row.cta; }

// One side in the CTA chosen, over the tile of its buffer or (`by_lines`) over its memory:
// {rows, cols, at: number of a cell -> cell, title, first_row, first_column}.
export function side_cells(side, group, moves, {cta, by_lines}) {
  const rows = group.sides[side].filter((row) => [null, cta].includes(home_of(row, moves)));
  if (rows.length === 0) return {rows: 0, cols: 0, at: new Map(), title: `nothing in CTA ${cta}`};
  if (rows[0].space === "registers") return register_cells(side, rows, moves.fragments);
  const buffer = moves.buffers?.find((b) => b.name === rows[0].buffer);
  const known = buffer?.shape?.length && rows.every((row) => row.buffer === buffer.name && has_elements(row));
  if (by_lines || !known) return line_cells(rows);
  return tile_cells(side, rows, buffer, moves.groups);
}

function has_elements(row) {
  return row.pieces ? row.pieces.elements.every((e) => e !== null) :
                      row.elements.every((list) => list.length > 0);
}

// Calls visit(flat element, cell) for what a row moves.
function for_elements(row, visit) {
  if (!row.pieces) {
    row.elements.forEach((list, k) => {
      for (const flat of list) visit(flat, {lane: row.lanes[k], warp: row.warp, address: row.addresses[k]});
    });
    return;
  }
  const {at, addresses, bytes, elements, counts} = row.pieces;
  at.forEach((first, k) => {
    const size = bytes[k] / counts[k];
    for (let i = 0; i < counts[k]; ++i)
      visit(elements[k] + i, engine_cell(row, first + i * size, addresses[k] + i * size, size));
  });
}

// `size`: bytes of the cell. The line of a matrix that it belongs to is a row of what is moved, or across its rows.
function engine_cell(row, at, address, size) {
  return {
    warp: row.side === "B" ? undefined : row.warp,
    issuer: row.lane,
    issued_by: row.warp,
    at,
    address,
    warpgroups: [warpgroup_of(row)],
    line: Math.floor(row.is_k_major ? at / row.row_bytes : at % row.row_bytes / size),
    row: Math.floor(at / row.row_bytes) / Math.max(1, row.rows - 1),
    column: at % row.row_bytes / row.row_bytes
  };
}

// Warpgroups read the same B.
function put_cell(cells, key, cell) {
  const there = cells.get(key);
  if (!there) return cells.set(key, cell);
  if (there.warpgroups && !there.warpgroups.includes(cell.warpgroups[0]))
    there.warpgroups.push(cell.warpgroups[0]);
}

function warpgroup_of(row) { return Math.floor(row.warp / 4); }

// Of a large buffer, and of one with more than two dimensions, the part that is touched: by these rows in the outer
// dimensions, by any round in the last two.
function tile_cells(side, rows, buffer, groups) {
  const shape = buffer.shape;
  const width = shape.at(-1);
  const height = shape.at(-2) ?? 1;
  const size = height * width;
  const total = shape.reduce((a, b) => a * b, 1);
  const tile = outer_tile(rows, size);
  const window = tile === null ? {r0: 0, r1: total / width, c0: 0, c1: width} :
      size <= 1 << 14          ? {r0: 0, r1: height, c0: 0, c1: width} :
                                 touched_window(side, buffer.name, groups, {width, size});
  const cols = window.c1 - window.c0;
  const shown = Math.min(window.r1 - window.r0, Math.floor(kMaxCells / cols));
  const base = tile === null ? 0 : tile * size;
  const at = new Map();
  for (const row of rows) {
    for_elements(row, (flat, cell) => {
      const r = Math.floor((flat - base) / width) - window.r0;
      const c = (flat - base) % width - window.c0;
      if (r < shown) put_cell(at, r * cols + c, cell);
    });
  }
  return {
    rows: shown,
    cols,
    at,
    first_row: window.r0,
    first_column: window.c0,
    group: 8,
    title: tile_title(buffer, tile, {...window, r1: window.r0 + shown}),
    more: ` of ${shape.join(" × ")}`
  };
}

// The number of the one tile of the last two dimensions that rows touch; null: several.
function outer_tile(rows, size) {
  let tile = null;
  let several = false;
  for (const row of rows) {
    for_elements(row, (flat) => {
      const at = Math.floor(flat / size);
      several ||= tile !== null && tile !== at;
      tile = at;
    });
  }
  return several ? null : tile;
}

// "X_s[1, 0:128, 0:64]", or the name and shape of a buffer that is shown whole.
function tile_title({name, shape}, tile, {r0, r1, c0, c1}) {
  const whole = `${name}, ${shape.join(" × ")}`;
  if (tile === null || shape.length < 2) return whole;
  const outer = [];
  let rest = tile;
  for (const extent of shape.slice(0, -2).reverse()) {
    outer.unshift(rest % extent);
    rest = Math.floor(rest / extent);
  }
  const is_whole = outer.length === 0 && r0 === 0 && c0 === 0 && r1 === shape.at(-2) && c1 === shape.at(-1);
  return is_whole ? whole : `${name}[${[...outer, `${r0}:${r1}`, `${c0}:${c1}`].join(", ")}]`;
}

function touched_window(side, name, groups, {width, size}) {
  const window = {r0: Infinity, c0: Infinity, r1: 0, c1: 0};
  for (const group of groups) {
    for (const row of group.sides[side] ?? []) {
      if (row.buffer !== name) continue;
      for_elements(row, (flat) => {
        const r = Math.floor(flat % size / width);
        const c = flat % width;
        window.r0 = Math.min(window.r0, r);
        window.r1 = Math.max(window.r1, r + 1);
        window.c0 = Math.min(window.c0, c);
        window.c1 = Math.max(window.c1, c + 1);
      });
    }
  }
  return window;
}

// Calls visit(address of a word, cell).
function for_words(row, visit) {
  if (!row.pieces) {
    row.addresses.forEach((address, k) => {
      const cell = {lane: row.lanes[k], warp: row.warp, address};
      for (let byte = 0; byte < row.bytes; byte += 4) visit(address + byte, cell);
    });
    return;
  }
  row.pieces.at.forEach((first, k) => {
    const address = row.pieces.addresses[k];
    for (let byte = 0; byte < row.pieces.bytes[k]; byte += 4)
      visit(address + byte, engine_cell(row, first + byte, address + byte, 4));
  });
}

function line_cells(rows) {
  let least = Infinity;
  for (const row of rows)
    for_words(row, (address) => {
      least = Math.min(least, address);
    });
  const base = Math.floor(least / kLineBytes) * kLineBytes;
  const at = new Map();
  let last = 0;
  for (const row of rows) {
    for_words(row, (address, cell) => {
      const place = Math.floor((address - base) / 4);
      if (place >= kMaxCells) return;
      put_cell(at, place, cell);
      last = Math.max(last, place);
    });
  }
  const what = rows[0].buffer ? `${rows[0].buffer}, ` : "";
  return {
    rows: Math.floor(last / 32) + 1,
    cols: 32,
    at,
    first_row: 0,
    first_column: 0,
    group: 4,
    title: least === Infinity ?
        "nothing: all of it lies outside the array" :
        `${what}lines of 128 bytes by banks, from address ${number(base)} of ${rows[0].space} memory`
  };
}

// A matrix in registers, the same in every round; those of several warpgroups one below the other.
function register_cells(side, rows, fragments) {
  const at = new Map();
  const groups = [...new Set(rows.map(warpgroup_of))].sort((a, b) => a - b);
  let shape = {rows: 0, columns: 0};
  for (const row of rows) {
    const fragment =
        fragments.find((f) => f.opcode === row.opcode && f.side === side && f.warp === row.warp % 4);
    if (!fragment) continue;
    shape = fragment;
    const warpgroups = [warpgroup_of(row)];
    const first = groups.indexOf(warpgroups[0]) * shape.rows * shape.columns;
    fragment.held.forEach((list, lane) => {
      list.forEach((flat, index) => {
        const line = Math.floor(flat / fragment.columns);
        at.set(
            first + flat, {lane, warp: row.warp, warpgroups, index, line, column: flat % fragment.columns});
      });
    });
  }
  const each = groups.length > 1 ? `${groups.length} warpgroups, ` : "";
  return {
    rows: shape.rows * groups.length,
    cols: shape.columns,
    at,
    first_row: 0,
    first_column: 0,
    group: 8,
    title: `${each}${shape.rows} × ${shape.columns} in registers`
  };
}

// Whether a cell of one side belongs to one under the pointer on another: the same bytes of a copy, the row of A and
// the column of B of an element of D, what the same lane holds or moves.
export function is_related(cell, side, other_side, other) {
  if (side === "from" || side === "to")
    return other.at === cell.at && other.issued_by === cell.issued_by && other.issuer === cell.issuer;
  if (side === other_side && cell.lane !== undefined)
    return other.lane === cell.lane && other.warp === cell.warp;
  if (!cell.warpgroups.some((g) => other.warpgroups.includes(g))) return false;
  if (side === other_side) return other.line === cell.line;
  if (side === "D") return other.line === (other_side === "A" ? cell.line : cell.column);
  if (other_side === "D") return cell.line === (side === "A" ? other.line : other.column);
  return false;
}

// Who hears of how many bytes, over the whole group.
export function signals_of(group) {
  const heard = new Map();
  for (const {mbarrier} of group.sides.to ?? []) {
    if (!mbarrier) continue;
    const key = `${mbarrier.cta}:${mbarrier.address}`;
    const sum = heard.get(key) ?? {...mbarrier, bytes: 0, copies: 0};
    sum.bytes += mbarrier.bytes;
    sum.copies += 1;
    heard.set(key, sum);
  }
  return [...heard.values()].sort((a, b) => a.cta - b.cta || a.address - b.address);
}
