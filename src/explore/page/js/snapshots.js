// SPDX-License-Identifier: Apache-2.0
//
// The states in a copy written by `--export`: warps and barriers at every moment, the contents of memory at some. An
// answer is made like that of the server to `state`, with `contents_at`: the moment whose contents it has.

import {first_from} from "./dom.js";
import {from_base64} from "./values.js";

const kLanes = 32;
const kTensorColumns = 512;

// The place of the last entry of a sorted list that is not behind `wanted`; -1: there is none.
export function last_until(list, wanted, of = (entry) => entry) {
  return first_from(list.length, (i) => of(list[i]) > wanted) - 1;
}

function to_base64(bytes) {
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text);
}

export class Snapshots {
  // answers: all that the copy has.
  constructor(answers) {
    this.states = answers.states;
    this.steps = answers.steps;
    this.ptx = answers.code?.columns?.find((c) => c.form === "ptx")?.text ?? [];
    this.per_block = answers.run?.recording?.warps_per_block ?? 1;
    this.end = answers.run?.recording?.steps ?? 0;
    this.of_warp = [];  // its moments
    this.steps.warp.forEach((w, i) => (this.of_warp[w] ??= []).push(i));
  }

  // The bytes of a region as they were at the moment of that number in `states.moments`.
  bytes(part, index, at) {
    const region = this.states.regions.find((r) => r.part === part && r.index === index);
    const out = new Uint8Array(region?.size ?? 0);
    let to = 0;
    for (const piece of region?.contents[at] ?? []) {
      const bytes = from_base64(this.states.pieces[piece]);
      out.set(bytes, to);
      to += bytes.length;
    }
    return out;
  }

  state({moment, warp, shared, tensor}) {
    const at = last_until(this.states.moments, moment);
    const {warps, barriers} = this.states;
    return {
      moment,
      step: this.steps.step[moment] ?? this.end,
      next_warp: this.steps.warp[moment] ?? null,
      warp,
      warps: warps.map((changes, w) => this.warp(changes, w, moment)),
      barriers: barriers.map((b) => barrier_at(b, moment)).filter(Boolean),
      registers: this.registers(warp, at),
      shared: shared ? this.shared(shared.rank ?? 0, at) : null,
      tensor: tensor ? this.tensor(tensor, at) : null,
      changed: {registers: [], shared: [], tensor: []},
      contents_at: this.states.moments[at]
    };
  }

  warp(changes, w, moment) {
    const change = changes[last_until(changes, moment, (c) => c[0])];
    const [, state, subject, waits_at, source_line] = change ?? [0, "runs", null, 0, 0];
    const mine = this.of_warp[w] ?? [];
    const next = mine[last_until(mine, moment - 1) + 1];
    const runs = !waits_at && state !== "ended" && next !== undefined;
    const line = runs ? this.steps.line[next] : waits_at;
    return {
      warp: w,
      block_rank: Math.floor(w / this.per_block),
      line,
      source_line: runs ? this.steps.source_line[next] : source_line,
      instruction: this.ptx[line - 1] ?? null,
      state,
      subject
    };
  }

  registers(warp, at) {
    const data = this.bytes("registers", warp, at);
    const unwritten = this.bytes("undefined registers", warp, at);
    const bit = (bytes, offset, lane) => (bytes[offset + (lane >> 3)] >> (lane & 7)) & 1;
    const lanes = Array.from({length: kLanes}, (_, lane) => lane);
    return this.states.registers.filter((r) => r.offset + r.bytes * kLanes <= data.length).map((r) => {
      const hex = (lane) => {
        let text = "";
        for (let b = r.bytes - 1; b >= 0; --b)
          text += data[r.offset + lane * r.bytes + b].toString(16).padStart(2, "0");
        return text;
      };
      const marks =
          lanes.map((lane) => (r.bytes ? unwritten[r.offset + lane] : bit(unwritten, r.offset, lane)));
      return {
        name: r.name,
        type: r.type,
        values: lanes.map((lane) => (r.bytes ? hex(lane) : String(bit(data, r.offset, lane)))),
        undefined: marks.some(Boolean) ? marks : null
      };
    });
  }

  shared(rank, at) {
    const bytes = this.bytes("shared", rank, at);
    return {
      rank,
      from: 0,
      size: bytes.length,
      bytes: to_base64(bytes),
      undefined: to_base64(this.bytes("undefined shared", rank, at)),
      names: this.states.names
    };
  }

  tensor({rank = 0, from = 0, to = 128}, at) {
    const cells = this.bytes("tensor", rank, at);
    const unwritten = this.bytes("undefined tensor", rank, at);
    if (cells.length === 0) return null;
    const lanes = unwritten.length / kTensorColumns;
    const count = to - from;
    const picked = new Uint8Array(lanes * count * 4);
    const marks = new Uint8Array(lanes * count);
    for (let lane = 0; lane < lanes; ++lane) {
      const first = lane * kTensorColumns + from;
      picked.set(cells.subarray(first * 4, (first + count) * 4), lane * count * 4);
      marks.set(unwritten.subarray(first, first + count), lane * count);
    }
    return {rank, from, to, lanes, cells: to_base64(picked), undefined: to_base64(marks)};
  }
}

function barrier_at(barrier, moment) {
  const change = barrier.changes[last_until(barrier.changes, moment, (c) => c[0])];
  if (!change || !change[1]) return null;
  const [, , phase, pending, expected, bytes] = change;
  const {kind, rank, name, offset} = barrier;
  return {kind, rank, name, offset, phase, pending, expected, bytes};
}
