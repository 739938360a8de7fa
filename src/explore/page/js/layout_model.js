// SPDX-License-Identifier: Apache-2.0
//
// A layout as two grids: the logical tile (its last two dimensions; sliders choose the others) and the hardware
// (lanes by registers, lines by banks, lanes by columns of tensor memory; sliders choose further axes such as the warp).

const kThreadRows = ["laneid", "tx", "tid_in_wg", "tid", "thread"];
const kWrap = 32;
const kLineBits = 1024;

export class LayoutModel {
  // answer: what the schema `layout` describes, with a map.
  constructor(answer) {
    this.answer = answer;
    this.shape = answer.shape.length === 0 ? [1] : answer.shape;
    this.size = answer.size;
    this.map = answer.map;
    this.banks = answer.banks ?? null;
    this.choose_logical();
    this.choose_hardware();
    this.place_elements();
  }

  choose_logical() {
    const shape = this.shape;
    if (shape.length === 1) {
      this.cols = Math.min(shape[0], shape[0] > 64 ? kWrap : 64);
      this.rows = Math.ceil(shape[0] / this.cols);
    } else
      [this.rows, this.cols] = shape.slice(-2);
    this.logical_sliders = shape.slice(0, -2).map((extent, i) => ({name: `dim ${i}`, extent}));
  }

  choose_hardware() {
    const {kind, axes, element_bits: bits, extents} = this.answer;
    if (kind === "shared" && this.banks && bits <= kLineBits) return this.choose_banks(bits);
    const rows = kind === "tensor_memory" ? "TLane" :
                                            kThreadRows.find((name) => axes.includes(name)) ??
            (axes.length > 1 ? axes.find((a) => a !== "m") : null);
    const cols = kind === "tensor_memory"  ? "TCol" :
        axes.includes("m") && rows !== "m" ? "m" :
                                             axes.find((a) => a !== rows) ?? null;
    const range = (axis) => (axis ? extents[axis] : {min: 0, max: 0});
    const [r, c] = [range(rows), range(cols)];
    this.sliders =
        axes.filter((a) => a !== rows && a !== cols)
            .map(
                (name) =>
                    ({name, extent: extents[name].max - extents[name].min + 1, min: extents[name].min}));
    if (rows === null) {  // one axis: lines of kWrap
      this.place = (p) => [Math.floor((p[cols] - c.min) / kWrap), (p[cols] - c.min) % kWrap];
      this.hw = {
        rows: Math.floor((c.max - c.min) / kWrap) + 1,
        cols: Math.min(kWrap, c.max - c.min + 1),
        row_name: `${cols} / ${kWrap}`,
        col_name: cols ?? "",
        from: c.min
      };
      return;
    }
    this.place = (p) => [p[rows] - r.min, cols ? p[cols] - c.min : 0];
    this.hw = {
      rows: r.max - r.min + 1,
      cols: c.max - c.min + 1,
      row_name: rows,
      col_name: cols === "m" ? "register" : cols ?? "",
      row_from: r.min,
      col_from: c.min
    };
  }

  choose_banks(bits) {
    let lines = 0;
    for (const places of this.banks)
      for (const p of places) lines = Math.max(lines, p.line + 1);
    this.sliders = [];
    this.place = (_, bank) => [bank.line, Math.floor((bank.byte % 128) * 8 / bits)];
    const per_bank = Math.max(1, Math.floor(32 / bits));
    this.hw =
        {rows: lines, cols: kLineBits / bits, row_name: "line", col_name: "bank", group: per_bank, per_bank};
  }

  // For every element its cells, and for every cell of a slice its elements.
  place_elements() {
    const {cols} = this.hw;
    this.cells = new Map();
    this.where = this.map.map((places, element) => places.map((p, k) => {
      const [r, c] = this.place(p, this.banks?.[element][k]);
      const slice = this.sliders.map((s) => p[s.name] - s.min).join();
      const cell = r * cols + c;
      const key = `${slice}|${cell}`;
      const list = this.cells.get(key);
      if (list)
        list.push(element);
      else
        this.cells.set(key, [element]);
      return {cell, slice, p, bank: this.banks?.[element][k] ?? null};
    }));
  }

  // The element at a cell of the logical grid, or -1.
  element_at(r, c, chosen) {
    if (this.shape.length === 1) {
      const i = r * this.cols + c;
      return i < this.size ? i : -1;
    }
    let outer = 0;
    this.logical_sliders.forEach((s, i) => {
      outer = outer * s.extent + (chosen[i] ?? 0);
    });
    return (outer * this.rows + r) * this.cols + c;
  }

  coordinate(element) {
    const result = [];
    let rest = element;
    for (const extent of [...this.shape].reverse()) {
      result.unshift(rest % extent);
      rest = Math.floor(rest / extent);
    }
    return result;
  }

  // The cell of the logical grid in which an element is seen, or -1 when another slice has it.
  logical_cell(element, chosen) {
    if (this.shape.length === 1) return element;
    const at = this.coordinate(element);
    const seen = this.logical_sliders.every((_, i) => at[i] === (chosen[i] ?? 0));
    return seen ? at.at(-2) * this.cols + at.at(-1) : -1;
  }

  elements_in(r, c, slice) { return this.cells.get(`${slice}|${r * this.hw.cols + c}`) ?? []; }

  place_text(element) {
    const texts = this.where[element].map(({p, bank}) => {
      const axes = Object.entries(p).map(([axis, value]) => `${axis} ${value}`).join(", ");
      return bank ? `${axes}: byte ${bank.byte}, line ${bank.line}, bank ${bank.bank}` : axes;
    });
    return texts.slice(0, 4).join(" and ") + (texts.length > 4 ? ` and ${texts.length - 4} more` : "");
  }

  // What cells can be coloured by, each with its largest value: name -> {of(element), max}.
  colorings() {
    const result = {};
    const add = (name, of, max) => {
      result[name] = {of, max: Math.max(1, max)};
    };
    if (this.hw.col_name === "bank") {
      add("bank", (e) => this.where[e][0].bank.bank, 31);
      add("line", (e) => this.where[e][0].bank.line, this.hw.rows - 1);
    }
    for (const axis of this.answer.axes) {
      const {min, max} = this.answer.extents[axis];
      add(axis, (e) => this.where[e][0].p[axis] - min, max - min);
    }
    if (this.shape.length > 1) add("row", (e) => this.coordinate(e).at(-2), this.rows - 1);
    add("column", (e) => this.coordinate(e).at(-1), this.shape.at(-1) - 1);
    return result;
  }

  first_coloring() {
    const all = Object.keys(this.colorings());
    return ["bank", ...kThreadRows, "TLane"].find((name) => all.includes(name)) ?? all[0];
  }
}
