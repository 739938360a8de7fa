// SPDX-License-Identifier: Apache-2.0
//
// The view `Run`: runs the kernel on the virtual GPU, then goes through its moments in both directions. One cursor
// serves the timeline, the warps, the barriers, memory and the source.

import {baked, call, newest, stream} from "./api.js";
import {counters_section} from "./charts.js";
import {button, el, field, number, put, rove, select, table, text_input} from "./dom.js";
import {shared_dtype} from "./layout_view.js";
import {RegistersView, SharedView, TensorView} from "./memory_view.js";
import {Moments} from "./moments.js";
import {parse_args} from "./params.js";
import {role_of_warp, roles_table} from "./roles.js";
import {contents_note, findings_section, nothing_recorded, ptx_section, result_section} from "./run_parts.js";
import {program, state, update} from "./state.js";
import {Timeline} from "./timeline.js";

const kParts =
    ["PTX", "Registers", "Shared memory", "Tensor memory", "Roles", "Counters", "Findings", "Result"];

const run_ui = {};
const moments = new Moments();
const ask_state = newest();
const ask_timeline = newest();
let run_options = {};
let outcome = null;  // the result of the last run
let now = null;      // the state at the cursor
let ptx = [];
let part = "PTX";
let warp = -1;  // follow this warp; -1: any
let moment = 0;
let job = null;
let stop = null;
let outdated = false;
let estimate = "";  // of the last run on the virtual GPU: a run on a GPU shows it beside its time

// What a run is asked for.
function make_request_fields() {
  const {read_only} = run_options;
  run_ui.args = text_input({
    size: 20,
    placeholder: "A=arange, m=64",
    value: state.run.args,
    readonly: read_only,
    onchange: (e) => update({run: {args: e.target.value}})
  });
  run_ui.expect = text_input({
    size: 14,
    placeholder: "B == A.T",
    value: state.run.expect,
    readonly: read_only,
    onchange: (e) => update({run: {expect: e.target.value}})
  });
  run_ui.schedule = select(
      [
        ["step", "in step"], ["rr", "round robin"], ["reverse", "reverse"], ["random:1", "random:1"],
        ["random:2", "random:2"]
      ],
      state.run.schedule || "step", (value) => update({run: {schedule: value}}), {disabled: read_only});
  run_ui.device = select(
      [["sim", "virtual GPU"], ...(run_options.info.gpu ? [["cuda", run_options.info.gpu]] : [])], "sim",
      null, {disabled: read_only, id: "run-device"});
  run_ui.go = button(read_only ? "Show the run" : "Run", run, {class: "main", id: "run-go"});
  run_ui.cancel = button("Cancel", cancel, {disabled: true, id: "run-cancel"});
  run_ui.progress = el("progress", {hidden: true, "aria-label": "Blocks finished"});
  return el(
      "div", {class: "tools"}, run_ui.go, run_ui.cancel, run_ui.progress, field("On", run_ui.device),
      field("Arguments", run_ui.args), field("Expect", run_ui.expect), field("Schedule", run_ui.schedule));
}

export function make_run_view(given) {
  run_options = given;
  run_ui.says = el("span", {role: "status", id: "run-says"});
  run_ui.span_says = el("div", {class: "says mono", role: "status"});
  run_ui.timeline = new Timeline({
    on_step: (step) => go(moments.at_step(step)),
    on_detail: load_detail,
    on_say: (text) => {
      run_ui.span_says.textContent = text;
    }
  });
  make_stepper();
  make_parts();
  run_ui.warps =
      el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Warps and barriers"});
  run_ui.notes = el("span", {id: "timeline-notes"});
  run_ui.contents = el("div", {class: "tools", id: "copy-contents", hidden: true});
  run_ui.state =
      el("div", {class: "state"}, el("section", {"aria-label": "Warps"}, run_ui.warps),
         el("section", {"aria-label": "State"}, run_ui.parts, run_ui.contents, run_ui.part));
  const legend =
      el("div", {class: "legend"}, el("span", {}, el("span", {class: "swatch runs"}), "runs"),
         el("span", {}, el("span", {class: "swatch wait"}), "waits"),
         el("span", {}, el("span", {class: "swatch work"}), "asynchronous work"),
         el("span", {}, el("span", {class: "swatch phase"}), "phase of an mbarrier"), run_ui.notes);
  return [
    make_request_fields(), el("div", {}, run_ui.says), run_ui.stepper, run_ui.timeline.node, legend,
    run_ui.span_says, run_ui.state
  ];
}

function make_stepper() {
  const by = select(
      ["instruction", "source line", "barrier"], state.run.by, (value) => update({run: {by: value}}),
      {id: "step-by"});
  run_ui.by = by;
  run_ui.warp = select([["-1", "any warp"]], "-1", (value) => {
    warp = Number(value);
    load_state();
  }, {id: "step-warp"});
  run_ui.slider = el("input", {
    type: "range",
    id: "run-slider",
    min: 0,
    max: 0,
    value: 0,
    "aria-label": "Moment",
    oninput: (e) => go(Number(e.target.value))
  });
  run_ui.where = el("output", {id: "run-where"}, "");
  run_ui.stepper = el(
      "div", {class: "tools", role: "group", "aria-label": "Time"},
      button("|◀", () => go(0), {"aria-label": "First moment"}),
      button("◀ Back", () => step(-1), {id: "step-back"}), button("Step ▶", () => step(1), {id: "step-on"}),
      button("▶|", () => go(moments.count), {"aria-label": "Last moment"}), field("by", by),
      field("of", run_ui.warp), run_ui.slider, run_ui.where);
}

function make_parts() {
  run_ui.parts = el("div", {role: "tablist", class: "small", "aria-label": "State at this moment"});
  for (const name of kParts) {
    run_ui.parts.append(button(name, () => show_part(name), {
      role: "tab",
      "data-part": name,
      id: `part-${name.split(" ")[0].toLowerCase()}`,
      "aria-controls": "run-part"
    }));
  }
  rove(run_ui.parts, "[role=tab]", (tab) => show_part(tab.dataset.part));
  run_ui.part = el("div", {class: "scroll", role: "region", id: "run-part", tabindex: 0});
  run_ui.registers = new RegistersView(() => show_part(part));
  run_ui.shared = new SharedView(() => show_part(part));
  run_ui.tensor = new TensorView(() => show_part(part));
  mark_part();
}

function mark_part() {
  for (const tab of run_ui.parts.children) {
    const on = tab.dataset.part === part;
    tab.setAttribute("aria-selected", on);
    tab.tabIndex = on ? 0 : -1;
  }
  run_ui.part.setAttribute("aria-label", part);
}

// --- running ---

async function run() {
  stop?.abort();
  stop = new AbortController();
  const mine = stop;
  try {
    const request = {
      ...program(),
      args: parse_args(run_ui.args.value),
      expects: run_ui.expect.value.trim() ? [run_ui.expect.value.trim()] : [],
      schedule: run_ui.schedule.value,
      device: run_ui.device.value,
      record: run_ui.device.value === "sim"
    };
    busy(true);
    const [code] = await Promise.all([
      call("code", {...program(), forms: ["ptx"]}, mine.signal),
      stream("run", request, (line) => received(line), mine.signal)
    ]);
    ptx = code.columns?.find((c) => c.form === "ptx")?.text ?? [];
    if (outcome) await loaded();
  } catch (error) {
    say_run(
        error.name === "AbortError" ? "cancelled" : error.message,
        error.name === "AbortError" ? "hint" : "wrong");
  }
  if (mine === stop) busy(false);
}

function busy(on) {
  run_ui.go.disabled = on;
  run_ui.cancel.disabled = !on;
  run_ui.progress.hidden = !on;
  run_ui.progress.removeAttribute("value");
  if (on) say_run("running …", "note");
  job = null;
}

async function cancel() {
  const id = job;
  stop?.abort();
  if (id !== null) await call("cancel", {job: id}).catch(() => {});
}

function received(line) {
  if (line.job !== undefined) job = line.job;
  if (line.progress) {
    const {seconds, blocks, of} = line.progress;
    if (of) {
      run_ui.progress.max = of;
      run_ui.progress.value = blocks;
    }
    say_run(`running, ${Math.round(10 * seconds) / 10} s${of ? `, ${blocks} of ${of} blocks` : ""}`, "note");
  }
  if (line.error) throw new Error(line.error);
  if (line.result) {
    outcome = line.result;
    outdated = false;
  }
}

function say_run(text, kind) { put(run_ui.says, el("span", {class: kind}, text)); }

async function loaded() {
  const {report, recording, timeline, errors} = outcome;
  if (!report) {
    forget_run();
    say_run(errors || "the kernel did not run", "wrong");
    return;
  }
  await moments.load(recording);
  run_ui.slider.max = moments.count;
  const warps = [...new Set(moments.warp)].sort((a, b) => a - b);
  put(run_ui.warp, el("option", {value: -1}, "any warp"),
      warps.map((w) => el("option", {value: w}, warp_text(w))));
  run_ui.warp.value = warps.includes(warp) ? warp : -1;
  warp = Number(run_ui.warp.value);
  run_ui.shared.suppose(shared_dtype());
  run_ui.timeline.show(timeline);
  run_ui.notes.textContent = notes_of(timeline).join("; ");
  run_ui.timeline.node.style.height = `${
      Math.min(
          240, 0.36 * run_ui.timeline.node.parentElement.clientHeight,
          24 + 17 * Math.max(2, run_ui.timeline.lanes.length))}px`;
  summary();
  if (report.findings.length) part = "Findings";
  go(Math.min(state.run.step, moments.count), true);
}

function warp_text(w) {
  const role = role_of_warp(outcome, w);
  return `warp ${w}${role?.name ? ` (${role.name})` : ""}`;
}

function notes_of(timeline) {
  const notes = [...(timeline?.notes ?? [])];
  const kept = moments.step.at(-1) ?? 0;
  if (timeline?.grain && !run_options.read_only) notes.push("zoom in to see more of it");
  if (run_options.read_only && moments.count < (outcome.recording?.moments ?? 0))
    notes.push(
        `this copy has the first ${number(moments.count)} of ${number(outcome.recording.moments)} moments`);
  if (outcome.recording?.is_cut) notes.push(`states are kept up to step ${number(kept)}`);
  return notes;
}

// A read-only copy has only what is merged.
async function load_detail(from, to) {
  if (!outcome?.recording || run_options.read_only) return null;
  try {
    const answer = await ask_timeline("timeline", {recording: outcome.recording.id, from, to});
    return answer?.timeline ?? null;
  } catch (error) {
    say_run(`${error.message}: run it again`, "hint");
    return null;
  }
}

// A run that failed leaves nothing to step through.
function forget_run() {
  moments.clear();
  moment = 0;
  now = null;
  run_ui.slider.max = 0;
  run_ui.where.textContent = "";
  run_ui.timeline.show(null);
  show_part(part);
  show_warps();
}

function summary() {
  const {report, counters} = outcome;
  if (counters?.estimate?.cycles)
    estimate =
        `estimate ${number(counters.estimate.cycles)} cycles an SM, bound by ${counters.estimate.bound}`;
  const wrong = report.findings.length + report.expectations.filter((e) => !e.holds).length;
  const parts = [
    report.outcome, report.device === "sim" ? `${number(report.steps)} warp instructions` : "",
    wrong                                                       ? "" :
        report.findings.length === 0 && report.device === "sim" ? "no findings" :
                                                                  "",
    report.findings.length ?
        `${report.findings.length} ${report.findings.length === 1 ? "finding" : "findings"}` :
        "",
    ...report.expectations.map(
        (e) => `${e.expect} ${
            e.holds ? "holds" : `fails for ${number(e.mismatches)} of ${number(e.elements)}`}`),
    report.time ? time_text(report.time, report.device_name) : "", estimate,
    outcome.recording?.is_cut ? "the recording was cut" : ""
  ];
  say_run(parts.filter(Boolean).join(" · "), report.good ? "fine" : "wrong");
}

function time_text({launches, median_seconds, fastest_seconds, slowest_seconds}, device) {
  const micros = (seconds) => (1e6 * seconds).toFixed(1);
  return `median ${micros(median_seconds)} µs of ${launches} launches (${micros(fastest_seconds)} to ${
      micros(slowest_seconds)} µs) on ${device}`;
}

export function program_changed() {
  if (!outcome || outdated || run_options.read_only) return;
  outdated = true;
  estimate = "";
  say_run("The program has changed since this run: run it again.", "hint");
}

// --- time ---

function step(direction) { go(moments.next(moment, direction, run_ui.by.value, warp, ptx)); }

function go(to, force = false) {
  const target = Math.max(0, Math.min(moments.count, to));
  if (target === moment && !force) return;
  moment = target;
  run_ui.slider.value = moment;
  update({run: {step: moment}});
  const line = moments.source_line[moment] ?? 0;
  const at = moments.step[moment] ?? run_ui.timeline.end ?? 0;
  run_ui.where.textContent = moments.count ?
      `${number(moment)} of ${number(moments.count)}${
          moment < moments.count ?
              `, step ${at}, ${warp_text(moments.warp[moment])}${line ? `, line ${line}` : ""}` :
                                                                        ", the end"                                                          }` :
                                                                        "";
  run_ui.timeline.at(at);
  if (line > 0) {
    run_options.editor.mark_lines([line], "cursor");
    run_options.editor.reveal(line);
  }
  load_state();
}

async function load_state() {
  const {recording} = outcome ?? {};
  const has_states = !run_options.read_only || baked?.states;
  const current = warp >= 0 ? warp : moments.warp[moment] ?? moments.warp[moment - 1] ?? 0;
  if (!recording || !has_states) {
    now = null;
    show_part(part);
    show_warps();
    return;
  }
  try {
    const request = {recording: recording.id, moment, warp: current};
    if (part === "Shared memory") request.shared = {rank: rank_of(current)};
    if (part === "Tensor memory") request.tensor = {rank: rank_of(current)};
    const answer = await ask_state("state", request);
    if (!answer) return;
    now = {...answer, of_warp: current};
    run_ui.state.dataset.moment = answer.moment;
    if (moment === moments.count) mark_ends(answer.warps);
    show_warps();
    show_part(part, true);
  } catch (error) {
    say_run(`${error.message}: run it again`, "hint");
  }
}

// At the end of a run that hangs the source shows where its warps are.
function mark_ends(warps) {
  const lines = warps.filter((w) => w.state !== "ended" && w.source_line > 0).map((w) => w.source_line);
  if (lines.length === 0) return;
  run_options.editor.mark_lines([...new Set(lines)], "cursor");
  run_options.editor.reveal(lines[0]);
}

// What a copy has of memory, and from when it is.
function show_contents(is_memory) {
  run_ui.contents.hidden = !is_memory || now?.contents_at === undefined;
  if (run_ui.contents.hidden) return;
  const step_of = (m) => moments.step[m] ?? outcome.recording.steps;
  put(run_ui.contents, contents_note(baked.states, now.contents_at, step_of, moment, go));
}

function rank_of(of_warp) {
  return Math.floor(of_warp / Math.max(1, outcome.recording.warps_per_block ?? 1));
}

// --- what is seen ---

function show_warps() {
  if (!now) {
    const text = nothing_recorded(run_options.read_only, outcome?.report?.device);
    put(run_ui.warps, el("p", {class: "note"}, text));
    return;
  }
  const has_roles = (outcome.timeline?.roles ?? []).length > 0;
  const heads = ["warp", ...(has_roles ? ["role"] : []), "state", "line", "next instruction"];
  const rows = now.warps.map((w) => {
    const link = button(`${w.warp}`, () => {
      run_ui.warp.value = w.warp;
      warp = w.warp;
      load_state();
    }, {class: "plain", "aria-label": `Follow warp ${w.warp}`});
    const role = role_of_warp(outcome, w.warp);
    return el("tr", {"aria-current": w.warp === now.of_warp ? "true" : null}, [
      link, ...(has_roles ? [role ? role.name ?? role.condition : ""] : []),
      w.state + (w.subject ? ` ${w.subject}` : ""), w.source_line || "",
      el("code", {}, `${w.line || ""} ${(w.instruction ?? "").trim().replaceAll("\t", " ").slice(0, 48)}`)
    ].map((c) => el("td", {}, c)));
  });
  const barriers = (now.barriers ?? [])
                       .map(
                           (b) =>
                               [b.name || `at ${b.offset}`, b.kind, b.phase ?? "–",
                                `${b.pending ?? "–"} of ${b.expected ?? "–"}`, b.bytes ?? "–"]);
  put(run_ui.warps,
      el("table", {class: "warps"}, el("caption", {}, "Warps"),
         el("thead", {}, el("tr", {}, heads.map((h) => el("th", {scope: "col"}, h)))), el("tbody", {}, rows)),
      table(
          "Barriers", ["barrier", "kind", "phase", "arrivals pending", "bytes pending"], barriers,
          {id: "barriers"}));
}

// `fresh`: the state was just loaded; otherwise memory may have to be asked for.
function show_part(name, fresh = false) {
  const needs_more = !fresh && name !== part && (name === "Shared memory" || name === "Tensor memory");
  part = name;
  mark_part();
  if (needs_more && outcome?.recording && now) return void load_state();
  const nothing =
      el("p", {class: "note"},
         run_options.read_only && outcome ? "Not in this read-only copy." : "Run the kernel first.");
  const views = {Registers: run_ui.registers, "Shared memory": run_ui.shared, "Tensor memory": run_ui.tensor};
  show_contents(name in views);
  if (views[name]) {
    if (now && run_ui.part.firstChild !== views[name].node) put(run_ui.part, views[name].node);
    return now ? views[name].show(now) : void put(run_ui.part, nothing);
  }
  const makers = {
    PTX: () =>
        ptx_section(ptx, now?.warps?.find((w) => w.warp === now.of_warp)?.line || moments.line[moment] || 1),
    Roles: () => roles_table(outcome.timeline, run_options.editor),
    Counters: () => counters_section(outcome?.counters, line_link),
    Findings: () => findings_section(outcome.report, run_options.editor, (to) => go(to, true)),
    Result: () => result_section(outcome.report)
  };
  put(run_ui.part, outcome?.report ? makers[name]() : nothing);
  run_ui.part.querySelector(".cursor")?.scrollIntoView({block: "nearest"});
}

function line_link(l) {
  return button(
      l.source_line ? `line ${l.source_line}` : `PTX ${l.line}`,
      () => l.source_line && run_options.editor.go_to(l.source_line, 1));
}

export function show_run_fields() {
  for (const name of ["args", "expect", "by"]) {
    if (document.activeElement !== run_ui[name]) run_ui[name].value = state.run[name];
  }
}

// A view that was hidden has no size until it is seen.
export function run_shown() {
  show_run_fields();
  if (run_options.read_only && !outcome) return void run();
  if (!outcome) show_part(part);
  if (!outcome) show_warps();
  run_ui.timeline.draw();
}

export function run_keys() {
  const seen = (f) => () => {
    if (state.tab === "run") f();
  };
  return [
    {
      keys: "Ctrl+Enter",
      text: "run the kernel",
      run: () => {
        update({tab: "run"});
        run();
      }
    },
    {keys: "Alt+.", text: "in the view Run: a step on", run: seen(() => step(1))},
    {keys: "Alt+,", text: "in the view Run: a step back", run: seen(() => step(-1))}
  ];
}
