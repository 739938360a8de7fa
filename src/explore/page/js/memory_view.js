// SPDX-License-Identifier: Apache-2.0
//
// Registers, shared memory and tensor memory of a moment as heat maps: colour runs from the least to the largest value
// that is seen, undefined contents stay empty, and what the last instruction changed is outlined.

import {scale} from "./colors.js";
import {el, field, put, select} from "./dom.js";
import {Grid} from "./grid.js";
import {bytes_per, from_base64, kFormats, short_number, word_heat, word_text, word_values} from "./values.js";

// Infinities and NaN have the colours of the ends.
function heat(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const v of values) {
    if (v === null || !Number.isFinite(v)) continue;
    low = Math.min(low, v);
    high = Math.max(high, v);
  }
  return (v) =>
             (Number.isFinite(v) ? scale(high > low ? (v - low) / (high - low) : 0.5) : scale(v < 0 ? 0 : 1));
}

// redraw(): another look at the same state was asked for.
class MemoryView {
  constructor(label, format, redraw) {
    this.format = format;
    this.says = el("div", {class: "says mono", role: "status"});
    this.head = el("div", {class: "tools"});
    this.grid = new Grid(label, {
      on_hover: (r, c) => {
        this.says.textContent = r < 0 ? "" : this.grid.data.say?.(r, c) ?? "";
      }
    });
    this.formats = select(kFormats, format, (value) => {
      this.format = value;
      this.is_chosen = true;
      redraw();
    });
    this.title = el("span", {class: "note"});
    put(this.head, field("As", this.formats), this.title);
    this.node = el("div", {class: "side fill"}, this.head, this.grid.node, this.says);
  }
}

const kFormatOf = {
  float16: "f16",
  bfloat16: "bf16",
  float32: "f32",
  int32: "s32",
  int8: "u8",
  uint8: "u8"
};

export class RegistersView extends MemoryView {
  constructor(redraw) { super("Registers of the warp: register by lane", "hex", redraw); }

  show(state) {
    const registers = state.registers ?? [];
    const changed = new Set(state.changed?.registers ?? []);
    const word = (r, c) =>
        (is_undefined(registers[r].undefined, c) ?
             null :
             Number.parseInt(String(registers[r].values[c]).replace(/^0x/, "").slice(-8), 16) >>> 0);
    const rows = registers.map(
        (_, r) => heat(Array.from(
            {length: 32}, (_, c) => (word(r, c) === null ? null : word_heat(word(r, c), this.format)))));
    this.grid.show(
        {
          rows: registers.length,
          cols: 32,
          group: 8,
          row_title: (r) => registers[r].name.replace("%", ""),
          color: (r, c) => (word(r, c) === null ? null : rows[r](word_heat(word(r, c), this.format))),
          text: (r, c) => word_text(word(r, c), this.format),
          say: (r, c) => `${registers[r].name} (${registers[r].type}), lane ${c}: ${
              word(r, c) === null ? "undefined" :
                                    `${registers[r].values[c]} = ${word_text(word(r, c), this.format)}`}`
        },
        true);
    const marks = [];
    registers.forEach((r, i) => {
      if (changed.has(r.name))
        for (let c = 0; c < 32; ++c) marks.push(i * 32 + c);
    });
    this.grid.mark(marks);
    this.title.textContent = `${registers.length} registers; outlined: written by the instruction before`;
  }
}

// masks: null, or for every lane which of its bytes nothing has written.
function is_undefined(masks, lane) { return (masks?.[lane] ?? 0) !== 0; }

export class SharedView extends MemoryView {
  constructor(redraw) { super("Shared memory: lines of 128 bytes by banks", "f16", redraw); }

  // Until someone chooses another, the format is that of the kernel's buffers.
  suppose(dtype) {
    if (this.is_chosen || !(dtype in kFormatOf)) return;
    this.format = kFormatOf[dtype];
    this.formats.value = this.format;
  }

  show(state) {
    const {shared} = state;
    if (!shared || !shared.bytes) {
      this.title.textContent = "no shared memory";
      this.grid.show({rows: 0, cols: 0, color: () => null});
      return;
    }
    const size = bytes_per(this.format);
    const values = this.values_of(shared, size);
    this.grid.show(this.cells_of(shared, values, size), true);
    const marks = [];
    for (const [rank, from, to] of state.changed?.shared ?? []) {
      for (let b = from; rank === shared.rank && b < to; b += size)
        marks.push(Math.floor((b - shared.from) / size));
    }
    this.grid.mark(marks);
    const names = (shared.names ?? []).map((n) => n.name).slice(0, 8).join(", ");
    this.title.textContent = `${shared.size} bytes${names ? `: ${names}` : ""}`;
  }

  // A number per element, null where a byte of it is undefined; whole lines of 128 bytes.
  values_of(shared, size) {
    const bytes = from_base64(shared.bytes);
    const unwritten = from_base64(shared.undefined ?? "");
    const view = new DataView(bytes.buffer);
    const read = {
      4: (at) => view.getUint32(at, true),
      2: (at) => view.getUint16(at, true),
      1: (at) => bytes[at]
    }[size];
    return Array.from({length: Math.ceil(bytes.length / 128) * 128 / size}, (_, i) => {
      const at = i * size;
      return at + size > bytes.length || unwritten[at] ? null : word_values(read(at), this.format)[0];
    });
  }

  cells_of(shared, values, size) {
    const cols = 128 / size;
    const color = heat(values);
    const at = (r, c) => values[r * cols + c];
    const name_of = (offset) =>
        shared.names?.find((n) => offset >= n.offset && offset < n.offset + n.bytes)?.name ?? "";
    const text = (v) =>
        (v === null                ? "undefined" :
             this.format === "hex" ? (v >>> 0).toString(16).padStart(8, "0") :
                                     short_number(v));
    const bank = (c) => Math.floor(c * size / 4);
    return {
      rows: values.length / cols,
      cols,
      group: 4 / size,
      row_title: (r) => r * 128 + shared.from,
      col_title: bank,
      color: (r, c) => (at(r, c) === null ? null : color(at(r, c))),
      text: (r, c) => text(at(r, c)),
      say: (r, c) => {
        const offset = (r * cols + c) * size + shared.from;
        return `byte ${offset} ${name_of(offset)}, bank ${bank(c)}: ${text(at(r, c))}`;
      }
    };
  }
}

export class TensorView extends MemoryView {
  constructor(redraw) { super("Tensor memory: lanes by columns", "f32", redraw); }

  show(state) {
    const {tensor} = state;
    const count = tensor ? tensor.to - tensor.from : 0;
    if (count === 0) {
      this.title.textContent = "no tensor memory is allocated";
      this.grid.show({rows: 0, cols: 0, color: () => null});
      return;
    }
    const cells = from_base64(tensor.cells);
    const words = new DataView(cells.buffer);
    const unwritten = from_base64(tensor.undefined);
    const word = (r, c) => (unwritten[r * count + c] ? null : words.getUint32(4 * (r * count + c), true));
    const all = [];
    for (let r = 0; r < 128; ++r)
      for (let c = 0; c < count; ++c)
        all.push(word(r, c) === null ? null : word_heat(word(r, c), this.format));
    const color = heat(all);
    this.grid.show(
        {
          rows: 128,
          cols: count,
          group: 8,
          col_title: (c) => c + tensor.from,
          color: (r, c) => (word(r, c) === null ? null : color(word_heat(word(r, c), this.format))),
          text: (r, c) => word_text(word(r, c), this.format),
          say: (r, c) => `lane ${r}, column ${c + tensor.from}: ${
              word(r, c) === null ? "undefined" : word_text(word(r, c), this.format)}`
        },
        true);
    this.title.textContent = `columns ${tensor.from} to ${tensor.to - 1}`;
  }
}
