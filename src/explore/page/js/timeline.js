// SPDX-License-Identifier: Apache-2.0
//
// The timeline on a canvas: a row per warp, per queue of asynchronous work, per mbarrier; spans of steps with a kind.
// Spans narrower than a pixel are drawn once per pixel, found by bisection, so that 10^5 of them cost as much as the
// canvas is wide. Tall spans run or work, low ones wait: the kind does not rest on colour alone.

import {css, on_theme} from "./colors.js";
import {el} from "./dom.js";

const kRow = 17;
const kNames = 150;
const kAxis = 18;
const kMaxArrows = 600;
const kKindColors = {
  runs: "--runs",
  work: "--work",
  phase: "--phase"
};
let timelines = 0;

export class Timeline {
  // on_step(step): a click or Enter; on_say(text): what is under the pointer.
  constructor({on_step, on_say}) {
    this.lanes = [];
    this.arrows = [];
    this.from = 0;
    this.to = 1;
    this.scroll = 0;
    this.step = -1;
    this.width = kNames + 1;
    this.lane = 0;
    this.on_step = on_step;
    this.on_say = on_say;
    const id = `span-${++timelines}`;
    this.canvas = el("canvas", {"aria-hidden": "true"});
    this.spoken = el("div", {role: "gridcell", id});
    this.node =
        el("div", {
          class: "timeline",
          role: "grid",
          "aria-label": "Timeline: warps, asynchronous work, barriers",
          "aria-activedescendant": id,
          tabindex: 0
        },
           this.canvas, el("div", {role: "row", class: "hidden-text"}, this.spoken));
    this.node.timeline = this;
    this.listen();
    new ResizeObserver(() => this.resized()).observe(this.node);
    on_theme(() => this.draw());
  }

  show(timeline) {
    let name = "";
    this.lanes = (timeline?.lanes ?? []).map((lane) => {
      name = lane.name || name;
      return {...lane, title: `${lane.name || "  …"}`, full: name};
    });
    this.arrows = timeline?.arrows ?? [];
    this.begin = timeline?.from ?? 0;
    this.end = Math.max(this.begin + 1, timeline?.to ?? 1);
    this.unit = timeline?.step ?? "round";
    this.lane = 0;
    this.scroll = 0;
    this.fit();
    this.node.setAttribute("aria-rowcount", this.lanes.length);
    this.speak();
  }

  fit() {
    this.from = this.begin;
    this.to = this.end;
    this.draw();
  }

  // Moves the cursor, and the view when the cursor leaves it.
  at(step) {
    this.step = step;
    const span = this.to - this.from;
    if (step < this.from || step >= this.to) this.look(step - span / 2, step + span / 2);
    this.draw();
  }

  look(from, to) {
    const span = Math.max(8, Math.min(to - from, this.end - this.begin));
    this.from = Math.max(this.begin, Math.min(from, this.end - span));
    this.to = this.from + span;
    this.draw();
  }

  resized() {
    const ratio = window.devicePixelRatio || 1;
    if (this.node.clientWidth === 0) return;
    this.canvas.width = Math.round(this.node.clientWidth * ratio);
    this.canvas.height = Math.round(this.node.clientHeight * ratio);
    this.paint();
  }

  draw() {
    if (!this.pending) this.pending = requestAnimationFrame(() => this.paint());
  }

  // `width` is the node's as it was last drawn: asking the node for every span makes the browser lay out the page.
  x_of(step) { return kNames + (step - this.from) * (this.width - kNames) / (this.to - this.from); }
  step_at(x) { return this.from + (x - kNames) * (this.to - this.from) / (this.width - kNames); }

  paint() {
    cancelAnimationFrame(this.pending);
    this.pending = 0;
    const ratio = window.devicePixelRatio || 1;
    const {clientWidth: width, clientHeight: height} = this.node;
    this.width = width;
    const context = this.canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    this.scroll = Math.max(0, Math.min(this.scroll, this.lanes.length * kRow + kAxis - height));
    this.colors = {
      runs: css("--runs"),
      wait: css("--wait"),
      work: css("--work"),
      phase: css("--phase"),
      ink: css("--ink"),
      quiet: css("--quiet"),
      line: css("--line"),
      mark: css("--mark"),
      accent: css("--accent"),
      back: css("--panel")
    };
    const first = Math.floor(this.scroll / kRow);
    const last = Math.min(this.lanes.length, Math.ceil((this.scroll + height) / kRow));
    context.font = `11px ${css("--mono")}`;
    context.textBaseline = "middle";
    for (let i = first; i < last; ++i) this.paint_lane(context, i, width);
    this.paint_arrows(context, first, last);
    this.paint_axis(context, width);
    this.paint_cursor(context, height);
  }

  y_of(lane) { return kAxis + lane * kRow - this.scroll; }

  paint_lane(context, index, width) {
    const lane = this.lanes[index];
    const y = this.y_of(index);
    if (index === this.lane && document.activeElement === this.node) {
      context.fillStyle = this.colors.line;
      context.fillRect(0, y, width, kRow);
    }
    context.save();
    context.beginPath();
    context.rect(kNames, kAxis, width - kNames, 1e5);
    context.clip();
    const {spans} = lane;
    let i = first_after(spans, this.from);
    while (i < spans.length && spans[i].begin < this.to) {
      const x0 = this.x_of(spans[i].begin);
      const x1 = this.x_of(spans[i].end);
      this.paint_span(context, spans[i], Math.max(x0, kNames), Math.min(x1, width), y);
      // What follows within this pixel cannot be seen: go to the first span of the next one.
      i = x1 - x0 < 1 ? Math.max(i + 1, first_after(spans, this.step_at(Math.floor(x0) + 1))) : i + 1;
    }
    context.restore();
    if (y >= kAxis - 4) {
      context.fillStyle = lane.name ? this.colors.ink : this.colors.quiet;
      context.textAlign = "left";
      context.fillText(lane.title, 6, y + kRow / 2, kNames - 10);
    }
  }

  paint_span(context, span, x0, x1, y) {
    const waits = !(span.kind in kKindColors);
    const width = Math.max(1, x1 - x0 - (x1 - x0 > 3 ? 1 : 0));
    context.fillStyle = waits ? this.colors.wait : this.colors[span.kind];
    context.globalAlpha = span.kind === "phase" && span.parity === 1 ? 0.55 : 1;
    context.fillRect(x0, waits ? y + 9 : y + 2, width, waits ? 5 : 12);
    context.globalAlpha = 1;
    if (x1 - x0 < 40) return;
    const text = span.kind === "phase" ? `phase ${span.phase}` : span.what ?? "";
    if (!text) return;
    context.save();
    context.beginPath();
    context.rect(x0, y, x1 - x0 - 2, kRow);
    context.clip();
    context.font = `${waits ? 9 : 10}px ${css("--mono")}`;
    const on_dark = span.kind === "runs" && document.documentElement.dataset.theme !== "dark";
    context.fillStyle = waits ? this.colors.ink : on_dark ? "#fff" : "#000";
    context.fillText(text, x0 + 3, waits ? y + 4.5 : y + 8.5);
    context.restore();
  }

  paint_arrows(context, first, last) {
    const seen = this.arrows.filter(
        (a) => a.step >= this.from && a.step < this.to && Math.max(a.from, a.to) >= first &&
            Math.min(a.from, a.to) < last);
    if (seen.length > kMaxArrows) return;
    context.strokeStyle = this.colors.ink;
    context.fillStyle = this.colors.ink;
    context.lineWidth = 1;
    for (const arrow of seen) {
      const x = this.x_of(arrow.step);
      const [y0, y1] = [this.y_of(arrow.from) + kRow / 2, this.y_of(arrow.to) + kRow / 2];
      const up = y1 < y0 ? 1 : -1;
      context.beginPath();
      context.moveTo(x, y0);
      context.lineTo(x, y1);
      context.stroke();
      context.beginPath();
      context.moveTo(x, y1);
      context.lineTo(x - 3, y1 + 5 * up);
      context.lineTo(x + 3, y1 + 5 * up);
      context.fill();
    }
  }

  paint_axis(context, width) {
    context.fillStyle = this.colors.back;
    context.fillRect(0, 0, width, kAxis);
    context.fillStyle = this.colors.quiet;
    context.textAlign = "left";
    context.fillText(this.unit === "round" ? "round" : "instruction", 6, kAxis / 2);
    const span = this.to - this.from;
    const rough = span * 80 / Math.max(1, width - kNames);
    const power = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
    const tick = Math.max(1, [1, 2, 5, 10].map((f) => f * power).find((t) => t >= rough) ?? power);
    for (let s = Math.ceil(this.from / tick) * tick; s < this.to; s += tick) {
      context.fillText(s, this.x_of(s) + 2, kAxis / 2);
      context.fillRect(this.x_of(s), 4, 1, kAxis - 4);
    }
  }

  paint_cursor(context, height) {
    if (this.step < 0) return;
    const x = this.x_of(this.step);
    if (x < kNames) return;
    context.fillStyle = this.colors.mark;
    context.fillRect(x, 0, 2, height);
  }

  // --- input ---

  find(event) {
    const box = this.node.getBoundingClientRect();
    const lane = Math.floor((event.clientY - box.top - kAxis + this.scroll) / kRow);
    const step = this.step_at(event.clientX - box.left);
    return {lane, step, span: span_at(this.lanes[lane]?.spans ?? [], step)};
  }

  listen() {
    const {node} = this;
    node.addEventListener("pointermove", (event) => {
      if (this.drag) return this.drag_to(event);
      const {lane, span} = this.find(event);
      this.on_say?.(span ? describe(this.lanes[lane], span) : "");
    });
    node.addEventListener("pointerdown", (event) => {
      this.drag =
          {x: event.clientX, y: event.clientY, from: this.from, to: this.to, scroll: this.scroll, far: false};
      node.setPointerCapture(event.pointerId);
    });
    node.addEventListener("pointerup", (event) => {
      const far = this.drag?.far;
      this.drag = null;
      if (far) return;
      const {step, lane} = this.find(event);
      if (lane >= 0 && lane < this.lanes.length) this.lane = lane;
      this.on_step?.(Math.round(Math.max(this.begin, Math.min(this.end, step))));
    });
    node.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
    node.addEventListener("keydown", (event) => this.key(event));
    node.addEventListener("focus", () => this.draw());
    node.addEventListener("blur", () => this.draw());
  }

  drag_to(event) {
    const per_pixel = (this.drag.to - this.drag.from) / (this.node.clientWidth - kNames);
    const dx = event.clientX - this.drag.x;
    this.drag.far ||= Math.abs(dx) + Math.abs(event.clientY - this.drag.y) > 4;
    this.scroll = this.drag.scroll - (event.clientY - this.drag.y);
    this.look(this.drag.from - dx * per_pixel, this.drag.to - dx * per_pixel);
  }

  wheel(event) {
    event.preventDefault();
    const span = this.to - this.from;
    if (event.ctrlKey) {
      const box = this.node.getBoundingClientRect();
      this.zoom(event.deltaY < 0 ? 0.8 : 1.25, this.step_at(event.clientX - box.left));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const by = (event.deltaX || event.deltaY) * span / 800;
      this.look(this.from + by, this.to + by);
    } else {
      this.scroll += event.deltaY;
      this.draw();
    }
  }

  zoom(factor, around = (this.from + this.to) / 2) {
    this.look(around - (around - this.from) * factor, around + (this.to - around) * factor);
  }

  key(event) {
    const spans = this.lanes[this.lane]?.spans ?? [];
    const here = Math.max(0, first_after(spans, Math.max(0, this.step)));
    const go = (span) => span && this.on_step?.(span.begin);
    const actions = {
      ArrowDown: () => {
        this.lane = Math.min(this.lanes.length - 1, this.lane + 1);
      },
      ArrowUp: () => {
        this.lane = Math.max(0, this.lane - 1);
      },
      ArrowRight: () => go(spans.find((s) => s.begin > this.step)),
      ArrowLeft: () => go(spans.slice(0, here + 1).findLast((s) => s.begin < this.step)),
      "+": () => this.zoom(0.7),
      "=": () => this.zoom(0.7),
      "-": () => this.zoom(1.4),
      0: () => this.fit(),
    };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
    const y = this.lane * kRow;
    this.scroll = Math.max(y + kRow + kAxis - this.node.clientHeight, Math.min(this.scroll, y));
    this.speak();
    this.draw();
  }

  speak() {
    const lane = this.lanes[this.lane];
    const span = lane ? span_at(lane.spans, this.step) : null;
    const text = lane ? (span ? describe(lane, span) : lane.full) : "nothing recorded";
    this.spoken.textContent = text;
    if (document.activeElement === this.node) this.on_say?.(text);
  }
}

// The first span that ends behind `step`.
export function first_after(spans, step) {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (spans[middle].end > step)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

export function span_at(spans, step) {
  const span = spans[first_after(spans, step)];
  return span && span.begin <= step ? span : null;
}

function describe(lane, span) {
  const when = `${span.begin} to ${span.open ? "the end" : span.end}`;
  const at = span.at ? ` at ${span.at.source ?? `PTX ${span.at.line}`}` : "";
  const by = span.by ? `, ended by ${span.by.who}${span.by_work ? "'s work" : ""} (${
                           span.by.source ?? `PTX ${span.by.line}`})` :
                       "";
  if (span.kind === "runs") return `${lane.full} runs, ${when}`;
  if (span.kind === "work")
    return `${lane.full}: ${span.what ?? "work"}, ${span.bytes ? `${span.bytes} bytes, ` : ""}${when}${at}`;
  if (span.kind === "phase") return `${lane.full}: phase ${span.phase}, ${when}${by}`;
  return `${lane.full} waits for ${span.what ?? span.kind}, ${when}${at}${by}`;
}
