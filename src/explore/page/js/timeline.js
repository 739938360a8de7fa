// SPDX-License-Identifier: Apache-2.0
//
// The timeline on a canvas: a row per warp, per queue of asynchronous work, per mbarrier, below the row of their role if
// there are roles; spans of steps with a kind. Spans narrower than a pixel are drawn once per pixel, found by bisection,
// so that 10^5 of them cost as much as the canvas is wide. Tall spans run or work, low ones wait: the kind does not rest
// on colour alone. Long runs come with short spans merged; what is zoomed into is asked for again, in detail.

import {css, on_theme} from "./colors.js";
import {debounce, el, first_from, number} from "./dom.js";

const kRow = 17;
const kNames = 150;
const kAxis = 18;
const kMaxArrows = 600;
const kMinSteps = 8;   // that can be zoomed into
const kAskAfter = 90;  // milliseconds without a move
const kKindColors = {
  runs: "--runs",
  work: "--work",
  phase: "--phase"
};
let timelines = 0;

export class Timeline {
  // on_step(step): a click or Enter; on_say(text): what is under the pointer; on_detail(from, to): a promise of the
  // timeline of these steps, or of null.
  constructor({on_step, on_say, on_detail}) {
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
    this.on_detail = on_detail;
    this.ask_soon = debounce(() => this.ask_detail(), kAskAfter);
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
    this.roles = timeline?.roles ?? [];
    this.lanes = rows_of(timeline?.lanes ?? [], this.roles);
    this.detail = null;
    this.grain = timeline?.grain ?? 0;
    this.arrows = this.arrows_of(timeline);
    this.begin = timeline?.from ?? 0;
    this.end = Math.max(this.begin + 1, timeline?.to ?? 1);
    this.unit = timeline?.step ?? "round";
    this.lane = 0;
    this.scroll = 0;
    this.fit();
    this.node.setAttribute("aria-rowcount", this.lanes.length);
    this.speak();
  }

  // By rows, not by lanes.
  arrows_of(timeline) {
    const row = [];
    this.lanes.forEach((lane, i) => {
      if (lane.kind !== "role") row.push(i);
    });
    return (timeline?.arrows ?? []).map((a) => ({from: row[a.from], to: row[a.to], step: a.step}));
  }

  // --- level of detail ---

  // Asks for what is seen, and as much on either side, where only merged spans are there.
  async ask_detail() {
    const span = this.to - this.from;
    const seen = this.detail_of_view();
    const enough = seen && (seen.grain === 0 || span > (seen.to - seen.from) / 4);
    if (this.grain === 0 || !this.on_detail || enough || span > 0.9 * (this.end - this.begin)) return;
    const from = Math.max(this.begin, Math.floor(this.from - span / 2));
    const to = Math.min(this.end, Math.ceil(this.to + span / 2));
    const timeline = await this.on_detail(from, to);
    if (!timeline) return;
    const rows = rows_of(timeline.lanes, this.roles);
    if (rows.length !== this.lanes.length) return;
    this.detail = {from, to, grain: timeline.grain, rows, arrows: this.arrows_of(timeline)};
    this.node.dataset.detail = `${from}-${to}`;
    this.draw();
    this.speak();
  }

  detail_of_view() {
    const {detail} = this;
    return detail && detail.from <= this.from && detail.to >= this.to ? detail : null;
  }

  // The row in as much detail as there is for what is seen.
  row(index) { return this.detail_of_view()?.rows[index] ?? this.lanes[index]; }

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
    const span = Math.max(kMinSteps, Math.min(to - from, this.end - this.begin));
    this.from = Math.max(this.begin, Math.min(from, this.end - span));
    this.to = this.from + span;
    this.draw();
    this.ask_soon();
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
      bad: css("--bad"),
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
    const lane = this.row(index);
    const y = this.y_of(index);
    if (lane.kind === "role" || (index === this.lane && document.activeElement === this.node)) {
      context.fillStyle = this.colors.line;
      context.globalAlpha = index === this.lane && document.activeElement === this.node ? 1 : 0.5;
      context.fillRect(0, y, width, kRow);
      context.globalAlpha = 1;
    }
    if (lane.kind === "role") return this.paint_role(context, lane, y, width);
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

  paint_role(context, lane, y, width) {
    if (y < kAxis - 4) return;
    context.textAlign = "left";
    context.fillStyle = this.colors.ink;
    context.font = `bold 11px ${css("--mono")}`;
    context.fillText(lane.title, 6, y + kRow / 2, kNames - 10);
    context.font = `11px ${css("--mono")}`;
    context.fillStyle = this.colors.quiet;
    context.save();
    context.beginPath();
    context.rect(kNames, kAxis, width - kNames - 4, 1e5);
    context.clip();
    context.fillText(lane.role.use, kNames + 3, y + kRow / 2);
    context.restore();
  }

  // Merged spans of a warp: the lower, dark part is the share of running.
  paint_merged(context, span, x0, width, y) {
    const runs = 12 * span.runs / Math.max(1, span.end - span.begin);
    context.fillStyle = this.colors.wait;
    context.globalAlpha = 0.55;
    context.fillRect(x0, y + 2, width, 12 - runs);
    context.globalAlpha = 1;
    context.fillStyle = this.colors.runs;
    context.fillRect(x0, y + 14 - runs, width, runs);
  }

  paint_span(context, span, x0, x1, y) {
    const waits = !(span.kind in kKindColors);
    const width = Math.max(1, x1 - x0 - (x1 - x0 > 3 ? 1 : 0));
    if (span.runs !== undefined) return this.paint_merged(context, span, x0, width, y);
    context.fillStyle = waits ? this.colors.wait : this.colors[span.kind];
    context.globalAlpha = span.kind === "phase" && span.parity === 1 ? 0.55 : 1;
    context.fillRect(x0, waits ? y + 9 : y + 2, width, waits ? 5 : 12);
    context.globalAlpha = 1;
    // A wait or work that nothing ends.
    if (span.open && (waits || span.kind === "work")) {
      context.fillStyle = this.colors.bad;
      context.fillRect(x0 + width - 3, y + 2, 3, 12);
    }
    if (x1 - x0 < 40) return;
    const text = span.kind === "phase" ? phase_text(span) : span.what ?? "";
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
    const seen = (this.detail_of_view() ?? this)
                     .arrows.filter(
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
    return {lane, step, span: span_at(this.row(lane)?.spans ?? [], step)};
  }

  listen() {
    const {node} = this;
    node.addEventListener("pointermove", (event) => {
      if (this.drag) return this.drag_to(event);
      const {lane, span} = this.find(event);
      const row = this.lanes[lane];
      this.on_say?.(span ? describe(row, span) : row?.kind === "role" ? row.full : "");
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
    const spans = this.row(this.lane)?.spans ?? [];
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
    const lane = this.row(this.lane);
    const span = lane ? span_at(lane.spans, this.step) : null;
    const text = lane ? (span ? describe(lane, span) : lane.full) : "nothing recorded";
    this.spoken.textContent = text;
    if (document.activeElement === this.node) this.on_say?.(text);
  }
}

// The lanes of a timeline, each role with a row of its own before them.
function rows_of(lanes, roles) {
  const rows = [];
  let name = "";
  let before = null;
  for (const lane of lanes) {
    const role = roles[lane.role];
    if (role && before !== `${lane.block} ${lane.role}`) {
      const title = role.name ?? role.condition;
      rows.push({kind: "role", title, full: `role ${role.text}: ${role.use}`, name: title, role, spans: []});
    }
    before = role ? `${lane.block} ${lane.role}` : null;
    name = lane.name || name;
    rows.push({...lane, title: `${role ? "  " : ""}${lane.name || "  …"}`, full: name});
  }
  return rows;
}

// The first span that ends behind `step`.
export function first_after(spans, step) { return first_from(spans.length, (i) => spans[i].end > step); }

export function span_at(spans, step) {
  const span = spans[first_after(spans, step)];
  return span && span.begin <= step ? span : null;
}

function phase_text(span) {
  return span.merged ? `phases ${span.phase} to ${span.phase + span.merged - 1}` : `phase ${span.phase}`;
}

// What a phase lacked when it began, and in the end where it is not over.
function lacks_text(span) {
  const points = span.points ?? [];
  if (points.length === 0) return "";
  const lack = (p) => `${p.arrivals} to arrive${p.bytes > 0 ? `, ${number(p.bytes)} bytes to come` : ""}`;
  const expects = span.bytes > 0 ? `, expects ${number(span.bytes)} bytes` : "";
  return span.open ? `, not over: ${lack(points.at(-1))}` : `, ${points[0].arrivals} to arrive${expects}`;
}

function merged_text(lane, span, when) {
  const steps = span.end - span.begin;
  const waits = span.kind === "runs" ? "" : `, waits mostly for ${span.what ?? span.kind}`;
  return `${lane.full}: ${number(span.merged)} spans merged, runs in ${number(span.runs)} of ${
      number(steps)} steps${waits}, ${when}`;
}

function describe(lane, span) {
  const when = `${span.begin} to ${span.open ? "the end" : span.end}`;
  const at = span.at ? ` at ${span.at.source ?? `PTX ${span.at.line}`}` : "";
  const by = span.by ? `, ended by ${span.by.who}${span.by_work ? "'s work" : ""} (${
                           span.by.source ?? `PTX ${span.by.line}`})` :
                       "";
  if (span.runs !== undefined) return merged_text(lane, span, when);
  if (span.kind === "runs") return `${lane.full} runs, ${when}`;
  if (span.kind === "work")
    return `${lane.full}: ${span.what ?? "work"}, ${span.bytes ? `${span.bytes} bytes, ` : ""}${when}${at}`;
  if (span.kind === "phase") return `${lane.full}: ${phase_text(span)}, ${when}${lacks_text(span)}${by}`;
  return `${lane.full} waits for ${span.what ?? span.kind}, ${when}${at}${by}`;
}
