// SPDX-License-Identifier: Apache-2.0
//
// "Use this swizzle": the edits that put a swizzle into the declaration of a buffer in shared memory, and the names
// that it needs into the imports.

import {bracketed, split_arguments} from "./params.js";

// The three numbers of a remedy that names `SwizzleLayout(3, 1, 3)`, or null.
export function swizzle_in(remedy) {
  const match = /SwizzleLayout\((\d+), ?(\d+), ?(\d+)\)/.exec(remedy ?? "");
  return match ? match.slice(1).join(", ") : null;
}

// The end of the brackets that open at `open`.
function closing(text, open) {
  for (const {at, depth, quoted} of bracketed(text, open))
    if (depth === 0 && !quoted) return at;
  return -1;
}

// The call that allocates `name`, through views such as `turned = staged.permute(1, 0)`: {name, begin, end} of its
// arguments.
function find_allocation(source, name) {
  for (let tries = 0; tries < 8; ++tries) {
    const match = new RegExp(`^[ \\t]*${name}[ \\t]*=[ \\t]*([\\w.]+)\\(`, "m").exec(source);
    if (!match) return null;
    const open = match.index + match[0].length - 1;
    if (/^T\.alloc_\w+$/.test(match[1])) return {name, begin: open + 1, end: closing(source, open)};
    const whole = /^(\w+)\./.exec(match[1]);
    if (!whole || whole[1] === "T") return null;
    name = whole[1];
  }
  return null;
}

function tile_text(notation) {
  const inner = /^ComposeLayout\(\d+, ?\d+, ?\d+, ?(.*)\)$/.exec(notation)?.[1] ?? notation;
  return /^S\[[^@]*\]$/.test(inner) ? `TileLayout(${inner})` : null;
}

function swizzled(argument, notation, numbers) {
  const written = argument?.replace(/^\s*layout\s*=\s*/, "").trim();
  const can_wrap =
      written && !notation.startsWith("ComposeLayout") && !/^(None|"auto"|'auto')$/.test(written);
  const base = can_wrap ? written : tile_text(notation);
  return base ? `ComposeLayout(SwizzleLayout(${numbers}), ${base})` : null;
}

function position(text, offset) {
  const before = text.slice(0, offset).split("\n");
  return {line: before.length, column: before.at(-1).length + 1};
}

function edit_between(text, begin, end, replacement) {
  const from = position(text, begin);
  const to = position(text, end);
  return {line: from.line, column: from.column, end_line: to.line, end_column: to.column, text: replacement};
}

function import_edit(source, added) {
  const needed = ["ComposeLayout", "S", "SwizzleLayout", "TileLayout"].filter(
      (name) => new RegExp(`\\b${name}\\b`).test(added));
  const head = source.slice(0, Math.max(0, source.search(/^(def|@|class)\b/m)));
  const missing = needed.filter((name) => !new RegExp(`\\bimport\\b[^#]*\\b${name}\\b`).test(head));
  if (missing.length === 0) return [];
  const last = [...source.matchAll(/^(from|import) .*$/gm)].at(-1);
  const open = last ? source.indexOf("(", last.index) : -1;
  let at = last ? last.index + last[0].length : 0;
  if (last && open >= 0 && open < at && !last[0].includes(")")) at = closing(source, open) + 1;
  const line = `from tvm.tirx.layout import ${missing.join(", ")}`;
  return [edit_between(source, at, at, last ? `\n${line}` : `${line}\n`)];
}

// The edits, or null when the declaration cannot be changed safely. `notation` is the buffer's own layout.
export function swizzle_edits(source, buffer, notation, numbers) {
  const found = find_allocation(source, buffer);
  if (!found || found.end < 0) return null;
  const inside = source.slice(found.begin, found.end);
  let at = found.begin;
  for (const part of split_arguments(inside)) {
    if (/^\s*layout\s*=/.test(part)) {
      const text = swizzled(part, notation, numbers);
      const begin = at + part.length - part.trimStart().length;
      return text ?
          [
            edit_between(source, begin, at + part.trimEnd().length, `layout=${text}`),
            ...import_edit(source, text)
          ] :
          null;
    }
    at += part.length + 1;
  }
  const text = swizzled(null, notation, numbers);
  const end = found.begin + inside.trimEnd().replace(/,$/, "").length;
  return text ? [edit_between(source, end, end, `, layout=${text}`), ...import_edit(source, text)] : null;
}
