// SPDX-License-Identifier: Apache-2.0
//
// The moments of a recording: for each, the step, the warp, the line of PTX and of the source. Where stepping by
// instruction, by source line or by barrier leads, forwards and backwards.

import {call} from "./api.js";
import {first_from} from "./dom.js";

const kChunk = 200000;
const kBarrier =
    /\b(bar|barrier|mbarrier)\.|\bbar\.sync|cp\.async\.(bulk\.)?wait|wgmma\.wait_group|tcgen05\.wait/;

export class Moments {
  constructor() { this.clear(); }

  clear() {
    this.count = 0;
    this.step = [];
    this.warp = [];
    this.line = [];
    this.source_line = [];
  }

  async load(recording) {
    this.clear();
    const wanted = recording?.moments ?? 0;
    while (this.count < wanted) {
      const part = await call(
          "steps", {recording: recording.id, from: this.count, to: Math.min(wanted, this.count + kChunk)});
      if (part.step.length === 0 || part.from !== this.count) break;  // a copy has its first ones only
      for (const name of ["step", "warp", "line", "source_line"]) this[name] = this[name].concat(part[name]);
      this.count = this.step.length;
    }
  }

  // The moment after (direction 1) or before (-1) `at` that stepping `by` reaches, of one warp or of any (-1).
  next(at, direction, by, warp, ptx) {
    const line = this.source_line[at];
    for (let i = at + direction; i >= 0 && i < this.count; i += direction) {
      if (warp >= 0 && this.warp[i] !== warp) continue;
      if (by === "source line" && (this.source_line[i] === line || this.source_line[i] === 0)) continue;
      if (by === "barrier" && !kBarrier.test(ptx[this.line[i] - 1] ?? "")) continue;
      return i;
    }
    return direction > 0 ? this.count : 0;
  }

  // The first moment of a step of the timeline.
  at_step(step) { return first_from(this.count, (i) => this.step[i] >= step); }
}
