// SPDX-License-Identifier: Apache-2.0
//
// A grid of cells on a canvas, of any size: the colours of all cells are one small bitmap (a pixel per cell) that is
// drawn scaled in one call; lines and texts are drawn for what is visible and large enough. Drag or scroll pans,
// Ctrl and the wheel or + and - zoom, arrows move a cursor. For screen readers it is an ARIA grid of which only the
// cell at the cursor exists.

import {css, ink_on, on_theme} from "./colors.js";
import {el} from "./dom.js";

const kHead = 34;  // pixels of row titles
const kTop = 18;   // of column titles
const kMinCell = 1;
const kMaxCell = 64;
const kTextWidth = 18;  // smaller cells have no text
const kTextHeight = 11;
let grids = 0;

export class Grid {
  // on_hover(row, column) with -1, -1 when the pointer leaves; on_pick the same for clicks and Enter.
  constructor(label, {on_hover, on_pick} = {}) {
    this.data = {rows: 0, cols: 0};
    this.marks = new Set();
    this.cw = 16;  // width and height of a cell
    this.ch = 16;
    this.x = 0;
    this.y = 0;
    this.cursor = null;
    this.on_hover = on_hover;
    this.on_pick = on_pick;
    const id = `cell-${++grids}`;
    this.canvas = el("canvas", {"aria-hidden": "true"});
    this.spoken = el("div", {role: "gridcell", id});
    this.row = el("div", {role: "row", class: "cell"}, this.spoken);
    this.node = el(
        "div", {class: "grid", role: "grid", "aria-label": label, "aria-activedescendant": id, tabindex: 0},
        this.canvas, this.row);
    this.listen();
    new ResizeObserver(() => this.resized()).observe(this.node);
    on_theme(() => this.draw());
  }

  // {rows, cols, color(r, c) -> [r,g,b] or null, text(r, c), row_title(r), col_title(c), say(r, c), group}:
  // `group` draws a stronger line every so many columns.
  show(data, keep_view = false) {
    const same = keep_view && data.rows === this.data.rows && data.cols === this.data.cols;
    this.data = data;
    this.paint();
    this.node.setAttribute("aria-rowcount", data.rows);
    this.node.setAttribute("aria-colcount", data.cols);
    if (!same) {
      this.cursor = null;
      this.fit();
    }
    this.speak();
    this.draw();
  }

  // cells: numbers row * cols + column
  mark(cells) {
    this.marks = cells instanceof Set ? cells : new Set(cells);
    this.draw();
  }

  paint() {
    const {rows, cols, color} = this.data;
    this.bitmap = document.createElement("canvas");
    this.bitmap.width = Math.max(1, cols);
    this.bitmap.height = Math.max(1, rows);
    const context = this.bitmap.getContext("2d");
    const image = context.createImageData(this.bitmap.width, this.bitmap.height);
    this.colors = new Array(rows * cols);
    for (let i = 0; i < rows * cols; ++i) {
      const c = color(Math.floor(i / cols), i % cols);
      this.colors[i] = c;
      if (c === null) continue;
      image.data.set([c[0], c[1], c[2], 255], 4 * i);
    }
    context.putImageData(image, 0, 0);
  }

  fit() {
    const {rows, cols} = this.data;
    const width = this.node.clientWidth - kHead - 4;
    const height = this.node.clientHeight - kTop - 4;
    if (width <= 0 || height <= 0 || rows === 0 || cols === 0) return;
    const whole = (size) => (size > 4 ? Math.floor(size) : Math.max(kMinCell, size));
    this.ch = whole(Math.min(30, height / rows));
    this.cw = whole(Math.min(44, width / cols, 4 * this.ch));  // not too far from square
    this.ch = Math.min(this.ch, Math.max(kMinCell, 4 * this.cw));
    this.x = 0;
    this.y = 0;
  }

  resized() {
    const ratio = window.devicePixelRatio || 1;
    const {clientWidth: width, clientHeight: height} = this.node;
    if (width === 0 || height === 0) return;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    if (!this.touched) this.fit();
    this.paint_now();
  }

  draw() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => this.paint_now());
  }

  paint_now() {
    cancelAnimationFrame(this.pending);
    this.pending = 0;
    if (!this.bitmap) return;
    const ratio = window.devicePixelRatio || 1;
    const context = this.canvas.getContext("2d");
    const {clientWidth: width, clientHeight: height} = this.node;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    this.clamp(width, height);
    const seen = this.visible(width, height);
    this.draw_cells(context, width, height, seen);
    this.draw_titles(context, seen);
  }

  clamp(width, height) {
    const {rows, cols} = this.data;
    this.x = Math.max(0, Math.min(this.x, cols * this.cw - (width - kHead - 4)));
    this.y = Math.max(0, Math.min(this.y, rows * this.ch - (height - kTop - 4)));
  }

  visible(width, height) {
    const {rows, cols} = this.data;
    return {
      r0: Math.floor(this.y / this.ch),
      r1: Math.min(rows, Math.ceil((this.y + height) / this.ch)),
      c0: Math.floor(this.x / this.cw),
      c1: Math.min(cols, Math.ceil((this.x + width) / this.cw))
    };
  }

  draw_cells(context, width, height, seen) {
    const {rows, cols, group} = this.data;
    context.save();
    context.beginPath();
    context.rect(kHead, kTop, width - kHead, height - kTop);
    context.clip();
    context.translate(kHead - this.x, kTop - this.y);
    context.fillStyle = css("--empty");
    context.fillRect(0, 0, cols * this.cw, rows * this.ch);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.bitmap, 0, 0, cols * this.cw, rows * this.ch);
    if (Math.min(this.cw, this.ch) >= 5) this.draw_lines(context, seen, 1, css("--back"), 1);
    if (group && this.cw * group >= 8) this.draw_lines(context, seen, group, css("--back"), 2);
    if (this.cw >= kTextWidth && this.ch >= kTextHeight) this.draw_texts(context, seen);
    this.draw_marks(context, seen);
    context.restore();
  }

  draw_lines(context, {r0, r1, c0, c1}, every, color, width) {
    const {rows, cols} = this.data;
    context.strokeStyle = color;
    context.lineWidth = width;
    context.beginPath();
    for (let c = Math.ceil(c0 / every) * every; c <= c1; c += every) {
      context.moveTo(c * this.cw, 0);
      context.lineTo(c * this.cw, rows * this.ch);
    }
    for (let r = r0; every === 1 && r <= r1; ++r) {
      context.moveTo(0, r * this.ch);
      context.lineTo(cols * this.cw, r * this.ch);
    }
    context.stroke();
  }

  draw_texts(context, {r0, r1, c0, c1}) {
    const {cols, text} = this.data;
    if (!text) return;
    context.font = `${Math.min(12, Math.floor(Math.min(this.cw * 0.45, this.ch * 0.8)))}px ${css("--mono")}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let r = r0; r < r1; ++r) {
      for (let c = c0; c < c1; ++c) {
        const color = this.colors[r * cols + c];
        if (color === null) continue;
        context.fillStyle = ink_on(color);
        context.fillText(text(r, c), (c + 0.5) * this.cw, (r + 0.5) * this.ch, this.cw - 2);
      }
    }
  }

  draw_marks(context, {r0, r1, c0, c1}) {
    const {cols} = this.data;
    const outline = (r, c, color, width) => {
      context.strokeStyle = color;
      context.lineWidth = width;
      context.strokeRect(
          c * this.cw + width / 2, r * this.ch + width / 2, Math.max(1, this.cw - width),
          Math.max(1, this.ch - width));
    };
    const large = Math.min(this.cw, this.ch) >= 9;
    for (const cell of this.marks) {
      const r = Math.floor(cell / cols);
      const c = cell % cols;
      if (r < r0 || r >= r1 || c < c0 || c >= c1) continue;
      if (large) outline(r, c, css("--back"), 5);
      outline(r, c, css("--mark"), large ? 3 : 2);
    }
    if (this.cursor && document.activeElement === this.node)
      outline(this.cursor.r, this.cursor.c, css("--accent"), 2);
  }

  draw_titles(context, {r0, r1, c0, c1}) {
    const {row_title, col_title} = this.data;
    context.font = `10px ${css("--mono")}`;
    context.fillStyle = css("--quiet");
    context.textBaseline = "middle";
    context.textAlign = "right";
    const row_step = Math.max(1, Math.ceil(12 / this.ch));
    for (let r = Math.ceil(r0 / row_step) * row_step; r < r1; r += row_step) {
      const y = kTop - this.y + (r + 0.5) * this.ch;
      if (y > kTop + 2) context.fillText(row_title ? row_title(r) : r, kHead - 4, y, kHead - 4);
    }
    context.textAlign = "center";
    const col_step = this.column_step();
    for (let c = Math.ceil(c0 / col_step) * col_step; c < c1; c += col_step) {
      const x = kHead - this.x + (c + 0.5) * this.cw;
      if (x > kHead) context.fillText(col_title ? col_title(c) : c, x, kTop / 2);
    }
  }

  column_step() {
    const {group = 1} = this.data;
    let step = group;
    while (step * this.cw < 24) step *= 2;
    return step;
  }

  // --- input ---

  at(event) {
    const box = this.node.getBoundingClientRect();
    const c = Math.floor((event.clientX - box.left - kHead + this.x) / this.cw);
    const r = Math.floor((event.clientY - box.top - kTop + this.y) / this.ch);
    const inside = r >= 0 && c >= 0 && r < this.data.rows && c < this.data.cols;
    return inside ? {r, c} : null;
  }

  // The middle of a cell, in pixels of the window (tests point at cells with it).
  center_of(r, c) {
    const box = this.node.getBoundingClientRect();
    return {
      x: box.left + kHead - this.x + (c + 0.5) * this.cw,
      y: box.top + kTop - this.y + (r + 0.5) * this.ch
    };
  }

  listen() {
    const node = this.node;
    node.addEventListener("pointermove", (event) => this.moved(event));
    node.addEventListener("pointerleave", () => this.hover(null));
    node.addEventListener("pointerdown", (event) => {
      this.drag = {x: event.clientX, y: event.clientY, ox: this.x, oy: this.y, far: false};
      node.setPointerCapture(event.pointerId);
    });
    node.addEventListener("pointerup", (event) => {
      const place = this.at(event);
      if (this.drag && !this.drag.far && place) {
        this.move_to(place.r, place.c);
        this.on_pick?.(place.r, place.c);
      }
      this.drag = null;
    });
    node.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
    node.addEventListener("keydown", (event) => this.key(event));
    node.addEventListener("focus", () => this.move_to(this.cursor?.r ?? 0, this.cursor?.c ?? 0));
    node.addEventListener("blur", () => this.hover(null));
    node.grid = this;
  }

  moved(event) {
    if (this.drag) {
      const dx = event.clientX - this.drag.x;
      const dy = event.clientY - this.drag.y;
      this.drag.far ||= Math.abs(dx) + Math.abs(dy) > 4;
      this.pan_to(this.drag.ox - dx, this.drag.oy - dy);
      return;
    }
    this.hover(this.at(event));
  }

  pan_to(x, y) {
    this.x = x;
    this.y = y;
    this.touched = true;
    this.draw();
  }

  hover(place) {
    const key = place ? place.r * this.data.cols + place.c : -1;
    if (key === this.hovered) return;
    this.hovered = key;
    this.on_hover?.(place ? place.r : -1, place ? place.c : -1);
  }

  wheel(event) {
    event.preventDefault();
    if (event.ctrlKey)
      this.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event);
    else
      this.pan_to(
          this.x + event.deltaX + (event.shiftKey ? event.deltaY : 0),
          this.y + (event.shiftKey ? 0 : event.deltaY));
  }

  zoom(factor, event) {
    const box = this.node.getBoundingClientRect();
    const px = event ? event.clientX - box.left - kHead : (this.node.clientWidth - kHead) / 2;
    const py = event ? event.clientY - box.top - kTop : (this.node.clientHeight - kTop) / 2;
    const by = Math.max(
        kMinCell / Math.min(this.cw, this.ch), Math.min(kMaxCell / Math.max(this.cw, this.ch), factor));
    this.x = (this.x + px) * by - px;
    this.y = (this.y + py) * by - py;
    this.cw *= by;
    this.ch *= by;
    this.touched = true;
    this.draw();
  }

  key(event) {
    const at = this.cursor ?? {r: 0, c: 0};
    const page = 8;
    const to = {
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
      PageUp: [-page, 0],
      PageDown: [page, 0],
      Home: [0, -at.c],
      End: [0, this.data.cols]
    }[event.key];
    if (to)
      this.move_to(at.r + to[0], at.c + to[1]);
    else if (event.key === "+" || event.key === "=")
      this.zoom(1.25);
    else if (event.key === "-")
      this.zoom(1 / 1.25);
    else if (event.key === "0") {
      this.touched = false;
      this.fit();
      this.draw();
    } else if (event.key === "Enter" || event.key === " ")
      this.on_pick?.(at.r, at.c);
    else
      return;
    event.preventDefault();
  }

  move_to(r, c) {
    const {rows, cols} = this.data;
    if (rows === 0 || cols === 0) return;
    this.cursor = {r: Math.max(0, Math.min(rows - 1, r)), c: Math.max(0, Math.min(cols - 1, c))};
    this.reveal();
    this.speak();
    this.hover(this.cursor);
    this.draw();
  }

  reveal() {
    const width = this.node.clientWidth - kHead - 4;
    const height = this.node.clientHeight - kTop - 4;
    const x = this.cursor.c * this.cw;
    const y = this.cursor.r * this.ch;
    this.x = Math.max(x + this.cw - width, Math.min(this.x, x));
    this.y = Math.max(y + this.ch - height, Math.min(this.y, y));
  }

  speak() {
    const {r, c} = this.cursor ?? {r: 0, c: 0};
    this.row.setAttribute("aria-rowindex", r + 1);
    this.spoken.setAttribute("aria-colindex", c + 1);
    const {say, text, rows, cols} = this.data;
    this.spoken.textContent = rows * cols === 0 ? "empty" : (say ? say(r, c) : text?.(r, c)) ?? "empty";
  }
}
