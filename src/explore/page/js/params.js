// SPDX-License-Identifier: Apache-2.0
//
// The form above the editor: which function of the file makes the kernel, and its parameters as fields. The fields
// make an expression, `build(tile=128)`, which can also be typed; only values that differ from the defaults appear.

import {by_id, el, field, put, select, text_input} from "./dom.js";
import {state, update} from "./state.js";

// "build(m=256, tile=32)" -> {name, values}, or null when it is another expression.
export function parse_call(text) {
  const match = /^\s*([A-Za-z_]\w*)\s*\((.*)\)\s*$/s.exec(text);
  if (!match) return null;
  const values = {};
  for (const part of split_arguments(match[2])) {
    const pair = /^\s*([A-Za-z_]\w*)\s*=([^=].*)$/s.exec(part);
    if (!pair) return null;
    values[pair[1]] = pair[2].trim();
  }
  return {name: match[1], values};
}

// The characters of a text from `start` on, each with its place, how many brackets are open behind it, and whether
// it stands in a string.
export function bracketed(text, start = 0) {
  const out = [];
  let depth = 0;
  let quote = "";
  for (let at = start; at < text.length; ++at) {
    const c = text[at];
    if (quote)
      quote = c === quote ? "" : quote;
    else if (c === "\"" || c === "'")
      quote = c;
    else if ("([{".includes(c))
      ++depth;
    else if (")]}".includes(c))
      --depth;
    out.push({c, at, depth, quoted: quote !== ""});
  }
  return out;
}

// Splits at commas outside of brackets and strings.
export function split_arguments(text) {
  const parts = [];
  let part = "";
  for (const {c, depth, quoted} of bracketed(text)) {
    if (c === "," && depth === 0 && !quoted) {
      parts.push(part);
      part = "";
    } else
      part += c;
  }
  if (part.trim() !== "") parts.push(part);
  return parts;
}

// Arguments of a run, "A=arange, m=64" -> {A: "arange", m: "64"}; throws on anything else.
export function parse_args(text) {
  const args = {};
  for (const item of split_arguments(text)) {
    const pair = /^\s*([\w]+)\s*=\s*(.*\S)\s*$/s.exec(item);
    if (!pair) throw new Error(`argument \`${item.trim()}\`, expected NAME=VALUE such as A=arange`);
    args[pair[1]] = pair[2];
  }
  return args;
}

function expression(fn, values) {
  const given = fn.params.filter(
      (p) => values[p.name] !== undefined && values[p.name] !== "" && values[p.name] !== p.default);
  return `${fn.name}(${given.map((p) => `${p.name}=${values[p.name]}`).join(", ")})`;
}

let functions = [];

// functions: of the answer to `check`; kept when the file has an error and lists none.
export function show_params(list, read_only) {
  if (list?.length) functions = list;
  const form = by_id("params");
  if (form.contains(document.activeElement) && form.dataset.kernel === state.kernel) return;
  form.dataset.kernel = state.kernel;
  const builders = functions.filter((f) => !f.is_kernel);
  const call = parse_call(state.kernel);
  const fn = builders.find((f) => f.name === call?.name) ??
      (state.kernel === "" ? builders.find((f) => f.name === "build") : null) ?? null;
  const focused = document.activeElement?.name;
  put(form, choose_function(fn, read_only), fn ? param_fields(fn, call?.values ?? {}, read_only) : [],
      expression_field(read_only));
  if (focused) form.querySelector(`[name="${focused}"]`)?.focus();
}

function choose_function(fn, read_only) {
  const options = [
    ["", "the file's kernel"],
    ...functions.map((f) => [f.is_kernel ? f.name : `${f.name}()`, f.is_kernel ? f.name : `${f.name}(…)`])
  ];
  const chosen = fn && state.kernel !== "" ? `${fn.name}()` :
      functions.some((f) => f.name === state.kernel) ? state.kernel :
                                                       "";
  return field(
      "Kernel",
      select(options, chosen, (value) => update({kernel: value}), {name: "function", disabled: read_only}));
}

function param_fields(fn, values, read_only) {
  const current = {...values};
  return fn.params.map((p) => {
    const change = (event) => {
      current[p.name] = event.target.value.trim();
      update({kernel: expression(fn, current)});
    };
    const input = is_flag(p) ?
        select(
            ["True", "False"], values[p.name] ?? p.default, null,
            {name: p.name, onchange: change, disabled: read_only}) :
        text_input(
            {name: p.name, value: values[p.name] ?? p.default ?? "", onchange: change, readonly: read_only});
    return field(p.name, input, p.default === null ? "no default" : `default ${p.default}`);
  });
}

function is_flag(p) { return p.default === "True" || p.default === "False"; }

function expression_field(read_only) {
  const input = text_input({
    name: "expression",
    class: "expression",
    value: state.kernel,
    placeholder: "e.g. build(2)[0]",
    onchange: (event) => update({kernel: event.target.value.trim()}),
    readonly: read_only
  });
  return field("Expression", input, "what --kernel takes");
}
