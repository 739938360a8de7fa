// SPDX-License-Identifier: Apache-2.0
//
// Parts of the view `Run`: the PTX around a line, what was found, the buffers after the run, and in a read-only copy
// which moments have the contents of memory.

import {button, el, number, table} from "./dom.js";
import {last_until} from "./snapshots.js";

const kAround = 40;  // lines of PTX shown on each side of the current one

// Around a line.
export function ptx_section(ptx, line) {
  const from = Math.max(0, line - kAround);
  const rows = ptx.slice(from, line + kAround)
                   .map(
                       (text, i) =>
                           el("div", {class: `code-line${from + i + 1 === line ? " cursor" : ""}`},
                              el("span", {class: "no"}, from + i + 1), text.replaceAll("\t", "  ")));
  return el("div", {class: "code-lines"}, rows);
}

// go(moment): where a finding was first seen.
export function findings_section(report, editor, go) {
  const {findings, findings_left_out: more} = report;
  if (findings.length === 0) return el("p", {class: "fine"}, `Nothing found by ${report.checks.join(", ")}.`);
  const one = (f) =>
      el("div", {class: "finding"}, el("b", {}, f.check), " ", f.message,
         f.count > 1 ? ` (${number(f.count)} times)` : "", f.note ? el("div", {class: "note"}, f.note) : null,
         el("div", {class: "tools"},
            f.moment !== null && f.moment !== undefined ?
                button("Go to the moment", () => go(f.moment), {class: "go-moment"}) :
                null,
            f.at ? button(`line ${f.at.line}`, () => editor.go_to(f.at.line, f.at.column)) : null,
            f.instruction ? el("code", {}, f.instruction.replaceAll("\t", " ")) : null));
  return el(
      "div", {}, findings.map(one), more ? el("p", {class: "note"}, `${more} more were left out`) : null);
}

export function result_section(report) {
  const buffers = report.buffers.map(
      (b) =>
          [b.name, b.dtype, b.shape.join(" × "), b.output ? "yes" : "", number(b.undefined),
           el("code", {}, b.first.slice(0, 8).join(" "))]);
  const expects = report.expectations.map(
      (e) =>
          [el("code", {}, e.expect),
           e.holds ? "holds" : `${number(e.mismatches)} of ${number(e.elements)} differ`,
           e.max_error ?? "infinite"]);
  return el(
      "div", {},
      table(
          "Buffers", ["name", "type", "shape", "written", "undefined", "first elements"], buffers,
          {id: "buffers"}),
      expects.length ? table("Expectations", ["expectation", "", "largest difference"], expects) : null,
      report.printed ? el("pre", {}, report.printed) : null);
}

// states: of the copy; at: the moment whose contents are shown; go(moment): to one that has its own.
export function contents_note(states, at, step_of, moment, go) {
  const {moments, telling} = states;
  const before = moments[last_until(moments, moment - 1)];
  const after = moments[last_until(moments, moment) + 1];
  const to = (target, text, label) =>
      button(text, () => go(target), {disabled: target === undefined, "aria-label": label});
  const shown = at === moment ? "" : "the last before this one, ";
  const which = `Contents of moment ${number(at)}, step ${number(step_of(at))}: ${shown}one of ${
      number(moments.length)} in this copy, of ${
      number(telling)} at which a barrier let warps go or something was found.`;
  return [
    to(before, "◀", "The moment before with contents"), to(after, "▶", "The next moment with contents"),
    el("span", {class: "note"}, which)
  ];
}

// Why there are no moments to step through.
export function nothing_recorded(read_only, device) {
  if (read_only) return "Nothing was recorded of this run.";
  if (device === "cuda") return "A GPU records nothing: run it on the virtual GPU to step through it.";
  return "Run the kernel to step through it.";
}
