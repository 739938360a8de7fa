// SPDX-License-Identifier: Apache-2.0
//
// Diagnostics: the list under the page, the status line (the message at the caret, else how many there are), and the
// button that applies a fix.

import {button, by_id, el, plural, put} from "./dom.js";

let problems = [];
let shown_in = null;

export function connect_problems(the_editor) {
  shown_in = the_editor;
  const toggle = by_id("problems-toggle");
  toggle.addEventListener("click", () => open_problems(toggle.getAttribute("aria-expanded") !== "true"));
}

export function open_problems(open) {
  by_id("problems").hidden = !open;
  by_id("problems-toggle").setAttribute("aria-expanded", open);
  shown_in.refresh();
}

function place(problem) { return problem.line > 0 ? `${problem.line}:${problem.column}` : "kernel"; }

function note_text(note) {
  if (typeof note === "string") return note;
  return note.line > 0 ? `${note.line}:${note.column}: ${note.text}` : note.text;
}

function show_one(problem) {
  const go = button(
      place(problem), () => shown_in.go_to(Math.max(1, problem.line), problem.column),
      {class: "place", "aria-label": `Go to line ${problem.line}`});
  const fix =
      problem.fix ? button(`Fix: ${problem.fix.title}`, () => shown_in.edit(problem.fix.edits)) : null;
  const notes =
      problem.notes?.length ? el("ul", {}, problem.notes.map((note) => el("li", {}, note_text(note)))) : null;
  return el(
      "div", {class: `problem ${problem.severity}`}, go, el("span", {class: "text"}, problem.message),
      problem.rule ? el("span", {class: "rule"}, problem.rule) : null, fix, notes);
}

export function show_problems(list) {
  problems = list;
  shown_in.show_problems(list);
  put(by_id("problems"), list.length ? list.map(show_one) : el("p", {class: "note"}, "No problems."));
  const errors = list.filter((p) => p.severity === "error").length;
  const toggle = by_id("problems-toggle");
  const warnings = list.length - errors;
  const parts = [errors ? plural(errors, "error") : "", warnings ? plural(warnings, "warning") : ""];
  toggle.textContent = parts.filter(Boolean).join(", ") || "No problems";
  toggle.className = errors ? "bad" : warnings ? "warn" : "";
  caret_moved(shown_in.caret_line());
}

// The message at the caret's line goes to the status line, which is read aloud.
export function caret_moved(line) {
  const here = problems.find((p) => p.line <= line && line <= p.end_line) ?? null;
  const first = here ?? problems.find((p) => p.severity === "error") ?? null;
  by_id("caret-message").textContent = first ? `${place(first)}: ${first.message}` : "";
}
