// SPDX-License-Identifier: Apache-2.0
//
// Starts the page: asks for what the program offers, makes the editor and the views, and refreshes the view that is
// seen when the program, its parameters or the target change.

import {baked, call, newest, start} from "./api.js";
import {choice_shown, make_choice_view, show_choice, show_primitive} from "./choice_view.js";
import {code_shown, make_code_view, show_code, source_line_chosen} from "./code_view.js";
import {compare_shown, make_compare_view} from "./compare_view.js";
import {by_id, debounce, el, put} from "./dom.js";
import {make_editor} from "./editor.js";
import {make_keys, make_splitter, make_tabs, make_theme, say, show_tab} from "./frame.js";
import {make_layout_view, show_buffers, show_layout} from "./layout_view.js";
import {show_params} from "./params.js";
import {caret_moved, connect_problems, open_problems, show_problems} from "./problems.js";
import {make_run_view, program_changed, run_keys, run_shown, show_run_fields} from "./run_view.js";
import {on_change, program, read_address, state, update} from "./state.js";

const kTyping = 300;  // milliseconds without a key before the program is checked

let editor = null;
let info = null;
const names = [];
const ask_check = newest();
const ask_explain = newest();
const ask_code = newest();
const stale = {
  choice: true,
  code: true
};
let has_sass = false;  // of the code that is shown: it takes the assembler, so it is made on demand
let waiting = 0;       // answers that are still to come
let program_version = 0;
let program_settled = null;  // called when the changed program was checked

const views = [
  {name: "layout", title: "Layout", nodes: [], shown: () => busy_until(refresh())},
  {name: "choice", title: "Choice", nodes: [], shown: () => busy_until(refresh().then(choice_shown))},
  {name: "code", title: "Code", nodes: [], shown: () => busy_until(refresh().then(code_shown))},
  {name: "run", title: "Run", nodes: [], shown: () => run_shown()},
  {name: "compare", title: "Compare", nodes: [], shown: () => compare_shown()},
];

function report(error) { say(typeof error === "string" ? error : error.message); }

async function check() {
  try {
    const version = program_version;
    const answer = await ask_check("check", program());
    if (!answer || version !== program_version) return;
    show_problems(answer.diagnostics);
    show_params(answer.functions, Boolean(baked));
    by_id("version").textContent = [answer.kernel, state.target, info.version].filter(Boolean).join(" · ");
  } catch (error) {
    report(error);
  }
}

// Brings the view that is seen up to date.
async function refresh() {
  try {
    if (stale.choice && (state.tab === "choice" || state.tab === "layout")) await refresh_explain();
    if (stale.code && state.tab === "code") await refresh_code();
  } catch (error) {
    report(error);
  }
}

async function refresh_explain() {
  stale.choice = false;
  const version = program_version;
  const answer = await ask_explain("explain", program());
  if (!answer || version !== program_version) return;
  show_buffers(answer.buffers ?? []);
  show_choice({...answer.explain, buffers: answer.buffers ?? [], diagnostics: answer.diagnostics});
}

async function refresh_code() {
  stale.code = false;
  say("compiling …");
  const forms =
      ["tile", "ir", "cuda", "ptx", ...(info.sass && state.code.forms.includes("sass") ? ["sass"] : [])];
  const version = program_version;
  const answer = await ask_code("code", {...program(), forms});
  if (!answer || version !== program_version) return;
  has_sass = forms.includes("sass");
  say("");
  show_code(answer);
}

// Assistive technology, and tests, learn from aria-busy that answers are still to come.
function busy_until(promise) {
  const count = (by) => {
    waiting += by;
    by_id("main").setAttribute("aria-busy", waiting > 0);
  };
  count(1);
  promise.finally(() => count(-1));
}

const program_is_new = debounce(async () => {
  const mine = ++program_version;
  stale.choice = true;
  stale.code = true;
  program_changed();
  await Promise.all([check(), refresh()]);
  if (mine !== program_version) return;
  program_settled?.();
  program_settled = null;
}, kTyping);

function program_will_change() {
  ++program_version;
  if (!program_settled)
    busy_until(new Promise((done) => {
      program_settled = done;
    }));
  program_is_new();
}

function changed(fields) {
  if (fields.has("source") && editor.text() !== state.source) editor.set_text(state.source);
  if (fields.has("file")) by_id("file").value = state.file;
  if (fields.has("target")) by_id("target").value = state.target;
  if (["source", "kernel", "target", "file"].some((name) => fields.has(name))) program_will_change();
  if (fields.has("kernel")) show_params(null, Boolean(baked));
  if (fields.has("layout")) busy_until(show_layout());
  if (fields.has("run")) show_run_fields();
  if (fields.has("choice")) show_primitive();
  if (fields.has("code")) {
    if (state.code.forms.includes("sass") && !has_sass) stale.code = true;
    busy_until(refresh().then(code_shown));
  }
  if (fields.has("tab")) show_tab(views);
}

function fill_header() {
  put(by_id("examples"), el("option", {value: ""}, "choose …"),
      info.examples.map(
          (e) => el("option", {value: e.name, title: e.title}, e.path.replace(/^examples\//, ""))));
  by_id("examples").addEventListener("change", (event) => open_example(event.target.value));
  put(by_id("target"), info.targets.map((t) => el("option", {value: t}, t)));
  by_id("target").addEventListener("change", (event) => update({target: event.target.value}));
  by_id("file").addEventListener(
      "change", (event) => update({file: event.target.value.trim() || "kernel.py"}));
  by_id("link").addEventListener("click", copy_link);
  if (!baked) return;
  for (const id of ["examples", "target", "file"]) by_id(id).disabled = true;
  by_id("read-only").hidden = false;
}

async function open_example(name) {
  if (name === "") return;
  try {
    const example = await call("example", {name});
    update({
      file: example.path,
      source: example.source,
      kernel: "",
      choice: {primitive: 0, round: 0},
      code: {line: 0},
      layout: {buffer: "", notation: "", shape: "", ops: []},
      run: {...run_words(example.commands?.[0] ?? ""), step: 0}
    });
    say(example.title);
  } catch (error) {
    report(error);
  }
}

// The arguments and the expectation of an example's own command, `… --arg A=ones --expect 'B == A'`.
function run_words(command) {
  const words = [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map((m) => m[1] ?? m[2] ?? m[3]);
  const after = (option) => words.filter((_, i) => words[i - 1] === option);
  return {args: after("--arg").join(", "), expect: after("--expect")[0] ?? ""};
}

async function copy_link() {
  await new Promise((done) => setTimeout(done, 300));  // the address is written a little later than the state
  try {
    await navigator.clipboard.writeText(location.href);
    say("link copied");
  } catch {
    say("the link is in the address bar");
  }
}

async function make_views(reference) {
  const read_only = Boolean(baked);
  const choose_line = (line) => editor.go_to(line, 1);
  views[0].nodes = make_layout_view({reference, read_only});
  views[1].nodes = make_choice_view({editor, choose_line, read_only});
  views[2].nodes = make_code_view({editor, sass: info.sass, read_only});
  views[3].nodes = make_run_view({editor, info, read_only});
  views[4].nodes = make_compare_view({info, read_only});
  make_tabs(views);
}

function initial_state() {
  const first = info.examples.find((e) => e.name === "transpose") ?? info.examples[0];
  const asked = read_address(report);
  if (asked && asked.source) return asked;
  if (info.file)
    return {
      ...asked,
      file: info.file.name,
      source: info.file.source,
      kernel: info.file.kernel ?? "",
      target: info.file.target || "auto"
    };
  if (first) open_example(first.name);
  return asked ?? {};
}

function shortcuts() {
  const tab = (name) => () => {
    update({tab: name});
    by_id(`tab-${name}`).focus();
  };
  return [
    ...views.map((view, i) => ({keys: `Alt+${i + 1}`, text: `the view ${view.title}`, run: tab(view.name)})),
    {keys: "Alt+0", text: "the editor", run: () => editor.go_to(editor.caret_line(), 1)},
    {keys: "Alt+P", text: "show or hide the problems", run: () => open_problems(by_id("problems").hidden)},
    {keys: "Ctrl+Space", text: "in the editor: complete the name at the caret"},
    {keys: "Ctrl+]", text: "in the editor: indent; Tab leaves the editor"},
    ...run_keys(),
    {keys: "F1", text: "this help", run: () => by_id("keys").showModal()},
  ];
}

async function main() {
  make_theme();
  try {
    info = await start();
  } catch (error) {
    report(error);
    return;
  }
  const wants_reference = baked ? Promise.resolve({names: [], ops: [], layouts: []}) :
                                  call("reference").catch(() => ({names: []}));
  editor = await make_editor(by_id("editor"), {
    rich: info.codemirror && !baked,
    read_only: Boolean(baked),
    words: () => names,
    changed: debounce(() => update({source: editor.text()}), 150),
    caret: (line) => {
      caret_moved(line);
      if (by_id("editor").contains(document.activeElement)) source_line_chosen(line);
    },
  });
  connect_problems(editor);
  const reference = await wants_reference;
  names.push(...completion_names(reference));
  await make_views(reference);
  fill_header();
  make_splitter(() => editor.refresh());
  make_keys(shortcuts());
  on_change(changed);
  const initial = initial_state();
  update(initial);
  for (const name of ["file", "target"]) by_id(name).value = state[name];
  show_tab(views);
  show_layout();
  show_params([], Boolean(baked));
  document.documentElement.dataset.ready = "true";
}

// Names as a program writes them; primitives with each namespace that has them.
function completion_names({names = [], primitives = [], namespaces = []}) {
  const rows = [
    ...names.map((r) => ({name: r.name, text: r.text})),
    ...namespaces.flatMap((space) => primitives.map((r) => ({name: `${space}.${r.name}`, text: r.text})))
  ];
  return rows.filter((r) => r.name);
}

main();
