// SPDX-License-Identifier: Apache-2.0
//
// The view `Code`: the forms a kernel goes through, side by side. Selecting a line anywhere marks what it came from
// and what it became, in the editor too.

import {button, el, focus_in, put, rove} from "./dom.js";
import {state, update} from "./state.js";

const kTitles = {
  tile: "Tile IR",
  ir: "Lowered IR",
  cuda: "CUDA C++",
  ptx: "PTX",
  sass: "SASS"
};

const code_ui = {};
let columns = [];
let code_options = {};
let sass_link = 0;  // the line of PTX selected through SASS or PTX

export function make_code_view(given) {
  code_options = given;
  code_ui.forms = el("div", {class: "tools", role: "group", "aria-label": "Forms to show"});
  code_ui.says = el("div", {role: "status", class: "note"});
  code_ui.columns = el("div", {class: "code-columns"});
  return [code_ui.forms, code_ui.columns, code_ui.says];
}

function form_buttons() {
  const names = Object.keys(kTitles).filter((name) => name !== "sass" || code_options.sass);
  const toggle = (name) => {
    const on = state.code.forms.includes(name);
    const forms = names.filter((n) => (n === name ? !on : state.code.forms.includes(n)));
    if (forms.length > 0) update({code: {forms}});
  };
  put(code_ui.forms, el("span", {class: "note"}, "Show"),
      names.map(
          (name) => button(
              kTitles[name], () => toggle(name),
              {"aria-pressed": state.code.forms.includes(name), "data-form": name})),
      code_options.sass ? null : el("span", {class: "note"}, "SASS needs ptxas and nvdisasm"));
}

export function show_code(answer) {
  columns = answer.columns ?? [];
  if (columns.length === 0)
    put(code_ui.columns, el("p", {class: "note"}, "The kernel has errors: see the problems below."));
  code_shown();
}

// Draws the columns asked for and marks the selected line.
export function code_shown() {
  const focused = document.activeElement?.dataset?.form;
  form_buttons();
  if (focused) code_ui.forms.querySelector(`[data-form="${focused}"]`)?.focus();
  const seen = columns.filter((c) => state.code.forms.includes(c.form));
  const drawn = [...code_ui.columns.querySelectorAll(".code-column")];
  const same = drawn.length === seen.length && drawn.every((d, i) => d.column === seen[i]);
  if (!same && columns.length) put(code_ui.columns, seen.map(draw_column));
  mark(state.code.line);
}

function draw_column(column) {
  const text = column.text ?? [];
  const lines = text.map(
      (line, i) =>
          el("div", {
            class: "code-line",
            role: "option",
            "aria-selected": "false",
            tabindex: -1,
            "data-line": i + 1,
            "data-source": column.source_lines[i],
            "data-ptx": column.ptx_lines?.[i] ?? (column.form === "ptx" ? i + 1 : 0)
          },
             el("span", {class: "no", "aria-hidden": "true"}, i + 1), line.replaceAll("\t", "  ") || " "));
  if (lines[0]) lines[0].tabIndex = 0;
  const list = el("div", {class: "code-lines", role: "listbox", "aria-label": kTitles[column.form]}, lines);
  const pick = (item) => {
    focus_in(lines, item);
    sass_link = Number(item.dataset.ptx);
    choose_line_of(Number(item.dataset.source), column.form);
  };
  list.addEventListener("click", (event) => {
    const item = event.target.closest(".code-line");
    if (item) pick(item);
  });
  rove(list, ".code-line", pick);
  const result =
      el("section", {class: "code-column", "aria-label": kTitles[column.form]},
         el("h2", {}, `${kTitles[column.form]} `, el("span", {class: "note"}, `${text.length} lines`)),
         column.error ? el("div", {class: "wrong"}, column.error) : null, list);
  result.column = column;
  return result;
}

function choose_line_of(line, from) {
  code_ui.from = from;
  if (line === state.code.line)
    mark(line);
  else
    update({code: {line}});
}

function mark(line) {
  let total = [];
  for (const column of code_ui.columns.querySelectorAll(".code-column")) {
    let first = null;
    let count = 0;
    for (const item of column.querySelectorAll(".code-line")) {
      const linked = line > 0 && Number(item.dataset.source) === line;
      const exact = sass_link > 0 && Number(item.dataset.ptx) === sass_link;
      item.classList.toggle("linked", linked);
      item.classList.toggle("cursor", exact);
      item.setAttribute("aria-selected", linked);
      if (linked && !first) first = item;
      count += linked ? 1 : 0;
    }
    if (first && column.column.form !== code_ui.from) center(first);
    total.push(`${count} of ${kTitles[column.column.form]}`);
  }
  code_ui.says.textContent = line > 0 ? `line ${line} became ${total.join(", ")}` :
                                        "Select a line to see what it came from and what it became.";
  code_options.editor.mark_lines(line > 0 ? [line] : [], "linked");
  if (line > 0 && code_ui.from !== "source") code_options.editor.reveal(line);
  code_ui.from = "";
}

function center(item) {
  const list = item.parentElement;
  list.scrollTop = item.offsetTop - list.offsetTop - list.clientHeight / 3;
}

// The caret of the editor selects, too, while this view is seen.
export function source_line_chosen(line) {
  if (state.tab !== "code" || columns.length === 0) return;
  sass_link = 0;
  choose_line_of(line, "source");
}
