// SPDX-License-Identifier: Apache-2.0
//
// The roles of a run's warps: which role a warp has, and a table of what each role did with its time.

import {button, el, svg, table} from "./dom.js";
import {state} from "./state.js";

const kShareWidth = 40;

// null: it has none, or the run has no roles.
export function role_of_warp(outcome, warp) {
  const own = warp % Math.max(1, outcome?.recording?.warps_per_block ?? 1);
  return (outcome?.timeline?.roles ?? []).find((role) => role.warps.includes(own)) ?? null;
}

function percent(part, whole) {
  if (part === 0 || whole === 0) return "0 %";
  const rounded = Math.round(100 * part / whole);
  return rounded === 0 ? "<1 %" : `${rounded} %`;
}

// A bar beside its number.
function share_bar(part, whole, kind) {
  const width = Math.max(part ? 1 : 0, Math.round(kShareWidth * part / Math.max(1, whole)));
  const bar =
      svg("svg", {class: "chart", width: kShareWidth + 4, height: 10, "aria-hidden": "true"},
          svg("rect", {class: kind, width, height: 9, y: 1}));
  return el("span", {}, bar, percent(part, whole));
}

export function roles_table(timeline, editor) {
  const roles = timeline?.roles ?? [];
  if (roles.length === 0)
    return el(
        "p", {class: "note"}, "No branch of the source sets whole warps apart: this kernel has no roles.");
  const rows = roles.map((role) => {
    const waited = role.waits.reduce((sum, wait) => sum + wait.steps, 0);
    const [file, line] = role.source?.split(":") ?? ["", 0];
    const is_here = state.file.split("/").pop() === file;
    const waits = role.waits.map((wait) => `${wait.what} ${percent(wait.steps, role.steps)}`).join(", ");
    return [
      is_here ? button(
                    role.name ?? role.condition, () => editor.go_to(Number(line), 1),
                    {class: "plain", title: role.text}) :
                role.name ?? role.condition,
      role.name ? el("code", {}, role.condition) : "", share_bar(role.runs, role.steps, "bar-one"),
      share_bar(waited, role.steps, "bar-two"), role.copies ? percent(role.copies, role.run_steps) : "",
      role.products ? percent(role.products, role.run_steps) : "", waits
    ];
  });
  return table(
      "Roles: running and waiting, of the steps until their warps end; copies and products under way, of the whole run",
      ["role", "where", "runs", "waits", "copies", "products", "waits for"], rows,
      {id: "roles", class: "warps"});
}
