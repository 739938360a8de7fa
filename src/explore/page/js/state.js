// SPDX-License-Identifier: Apache-2.0
//
// The page's state, its listeners, and its form in the address: base64url of JSON behind the `#`, so that a link
// reproduces what is seen. Only fields of `kDefaults` are taken from an address.

import {debounce} from "./dom.js";

const kDefaults = {
  file: "kernel.py",
  source: "",
  kernel: "",
  target: "auto",
  tab: "layout",
  layout: {buffer: "", notation: "", shape: "", dtype: "float16", ops: []},
  choice: {primitive: 0, round: 0},
  code: {forms: ["tile", "ir", "ptx"], line: 0},
  run: {args: "", schedule: "", expect: "", step: 0, by: "instruction"},
  compare: {a: null, b: null},
};

export const state = structuredClone(kDefaults);
const listeners = [];

// f(changed): `changed` has the names of the top-level fields that changed.
export function on_change(f) { listeners.push(f); }

// Merges `change` (fields of objects one level deep) and tells the listeners.
export function update(change) {
  const changed = new Set();
  for (const [name, value] of Object.entries(change)) {
    const merged = is_plain(value) && is_plain(state[name]) ? {...state[name], ...value} : value;
    if (JSON.stringify(merged) === JSON.stringify(state[name])) continue;
    state[name] = merged;
    changed.add(name);
  }
  if (changed.size === 0) return;
  for (const f of listeners) f(changed);
  write_address();
}

function is_plain(value) { return typeof value === "object" && value !== null && !Array.isArray(value); }

// The program as requests carry it.
export function program() {
  return {file: state.file, source: state.source, kernel: state.kernel, target: state.target};
}

export function encode_state(value) {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  let text = "";
  for (let i = 0; i < bytes.length; i += 8192) text += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export function decode_state(text) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}

const write_address = debounce(() => {
  history.replaceState(null, "", "#" + encode_state(state));
}, 250);

// What an address asks for, or null; a damaged one counts as none and is reported.
export function read_address(report) {
  const text = location.hash.slice(1);
  if (text === "") return null;
  try {
    return known_fields(decode_state(text));
  } catch (error) {
    report(`the address after # cannot be read: ${error.message}`);
    return null;
  }
}

function known_fields(value) {
  const taken = {};
  for (const [name, usual] of Object.entries(kDefaults)) {
    if (!(name in value)) continue;
    const same = usual === null ||
        (typeof value[name] === typeof usual && Array.isArray(value[name]) === Array.isArray(usual));
    if (same && value[name] !== null) taken[name] = value[name];
  }
  return taken;
}
