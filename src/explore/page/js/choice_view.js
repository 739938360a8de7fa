// SPDX-License-Identifier: Apache-2.0
//
// The view `Choice`: the primitives of the kernel; for the selected one its operands, every variant's verdict, what
// is executed and what it costs, the remedy, and the moves of the lanes round by round over the tile.

import {baked, newest} from "./api.js";
import {button, el, number, plural, put, rove, svg, table} from "./dom.js";
import {show_operand} from "./layout_view.js";
import {make_moves, no_moves, say_in_moves, set_moves, show_moves} from "./moves_view.js";
import {parse_args} from "./params.js";
import {swizzle_edits, swizzle_in} from "./remedy.js";
import {program, state, update} from "./state.js";

const ask_moves = newest();
const choice_ui = {};
let explained = null;
let moves_of = -1;  // the primitive whose moves are there
let choice_options = {};

export function make_choice_view(given) {
  choice_options = given;
  choice_ui.list = el("div", {class: "list", role: "listbox", "aria-label": "Primitives of the kernel"});
  choice_ui.detail = el(
      "div", {class: "detail", tabindex: 0, role: "region", "aria-label": "The choice for this primitive"});
  rove(choice_ui.list, "[role=option]", (item) => item.click());
  choice_ui.moves = make_moves();
  return [el("div", {class: "columns"}, choice_ui.list, choice_ui.detail)];
}

export function show_choice(answer) {
  explained = answer;
  moves_of = -1;
  const primitives = answer.primitives ?? [];
  if (primitives.length === 0) {
    put(choice_ui.list);
    put(choice_ui.detail,
        el("p", {class: "note"},
           answer.diagnostics?.length ? "The kernel has errors: see the problems below." :
                                        "This kernel has no tile primitives."));
    return;
  }
  put(choice_ui.list, primitives.map((p, i) => {
    const conflicts = p.plan?.wavefronts?.conflicts ?? 0;
    return el(
        "div", {role: "option", "data-index": i, onclick: () => choose_primitive(i)}, el("code", {}, p.call),
        ` line ${p.at?.line ?? "?"}`,
        el("span", {class: "sub"}, p.chosen ?? "no variant",
           conflicts ? ` · ${number(conflicts)} conflicts` : ""));
  }));
  show_primitive();
}

function choose_primitive(index) {
  if (explained.primitives[index]?.at) choice_options.editor.reveal(explained.primitives[index].at.line);
  update({choice: {primitive: index, round: 0}});
}

export function show_primitive() {
  const primitives = explained?.primitives ?? [];
  if (primitives.length === 0) return;
  const index = Math.min(state.choice.primitive, primitives.length - 1);
  [...choice_ui.list.children].forEach((item, i) => {
    item.setAttribute("aria-selected", i === index);
    item.tabIndex = i === index ? 0 : -1;
  });
  const p = primitives[index];
  choice_options.editor.mark_lines(p.at ? [p.at.line] : [], "linked");
  if (moves_of === index) return show_moves();
  put(choice_ui.detail,
      el("h2", {}, el("code", {}, p.call), ` by ${p.threads}`,
         p.at ? [" ", button(`line ${p.at.line}`, () => choice_options.choose_line(p.at.line))] : null),
      operands_table(p), variants_table(p), p.plan ? plan_section(p) : null, choice_ui.moves);
  if (state.tab === "choice") load_moves(index);
}

// Moves take a run of the kernel: only when they are seen.
export function choice_shown() {
  if ((explained?.primitives ?? []).length > 0 && moves_of !== state.choice.primitive) show_primitive();
}

function operands_table(p) {
  return table(
      "Operands", ["", "region", "type", "memory", "layout"],
      p.operands.map(
          (o) =>
              [o.role, el("code", {}, o.region), o.dtype, o.scope,
               o.layout ? button(
                              o.layout, () => show_operand(o.layout, o.dtype, o.region),
                              {class: "mono", title: "show this layout"}) :
                          "row-major, extents of run time"]));
}

function variants_table(p) {
  const verdict = (v) => el("span", {class: `verdict-${v.verdict.split(" ")[0]}`}, v.verdict);
  const asked = p.variants.filter((v) => v.verdict !== "not asked");
  const others = p.variants.filter((v) => v.verdict === "not asked");
  return table(
      "Variants, in the order in which they are asked", ["variant", "verdict", "rule", "reason"],
      [
        ...asked.map(
            (v) =>
                [el("code", {}, v.variant), verdict(v), v.rule ? el("code", {}, v.rule) : "",
                 v.reason ?? ""]),
        ...(others.length ?
                [[el("code", {}, others.map((v) => v.variant).join(", ")), verdict(others[0]), "", ""]] :
                [])
      ],
      {id: "variants"});
}

function plan_section(p) {
  const {plan} = p;
  const executes = plan.instructions.map((i) => `${i.per_thread} × ${i.opcode}, ${i.bytes} bytes`);
  const rows = [
    ["plan", plan.summary], ["executes", el("code", {class: "lines"}, executes.join("\n"))],
    ["registers", `${plan.registers} of 32 bits per thread`]
  ];
  if (plan.elements) rows.splice(2, 0, ["moves", moved_text(plan)]);
  if (plan.product)
    rows.push(["product", `${plan.product.tiling}, ${number(plan.product.flops)} operations`]);
  if (plan.wavefronts) rows.push(["wavefronts", wavefronts(plan.wavefronts)]);
  if (plan.remedy) rows.push(["remedy", el("span", {}, plan.remedy, " ", remedy_button(p))]);
  for (const note of plan.notes) rows.push(["note", note]);
  return table("Cost", ["", ""], rows, {id: "plan"});
}

function moved_text({elements, bytes, threads, rounds}) {
  return `${number(elements)} elements, ${number(bytes)} bytes, by ${plural(threads, "thread")} in ${
      plural(rounds, "round")}`;
}

function wavefronts({needed, ideal, conflicts}) {
  const width = 160;
  const bar =
      svg("svg", {
        width,
        height: 12,
        class: "meter chart",
        role: "img",
        "aria-label": `${needed} wavefronts, ${ideal} at best`
      },
          svg("rect", {class: "bar-two", width, height: 12}),
          svg("rect", {class: "bar-one", width: width * ideal / Math.max(1, needed), height: 12}));
  return el(
      "span", {},
      `${number(needed)}, ${number(ideal)} at best: ${
          conflicts ? `${number(conflicts)} lost to bank conflicts` : "no bank conflicts"}`,
      bar);
}

function remedy_button(p) {
  const numbers = swizzle_in(p.plan.remedy);
  if (!numbers || choice_options.read_only) return null;
  return button("Use this swizzle", () => {
    const shared = p.operands.filter((o) => o.scope.startsWith("shared")).map((o) => o.region.split("[")[0]);
    for (const name of shared) {
      const own = explained.buffers.find((b) => b.name === name);
      const edits = own ? swizzle_edits(choice_options.editor.text(), name, own.layout, numbers) : null;
      if (!edits) continue;
      choice_options.editor.edit(edits);
      say_in_moves(`the layout of ${name} has the swizzle now`);
      return;
    }
    say_in_moves(`write it by hand: the declaration of ${shared.join(" or ")} is not a plain T.alloc_…(…)`);
  }, {class: "main", id: "use-swizzle"});
}

// --- moves ---

async function load_moves(index) {
  no_moves("recording the moves on the virtual GPU …");
  try {
    const {at} = explained.primitives[index];
    const request = baked ?
        {primitive: index} :
        {...program(), line: at?.line ?? 0, column: at?.column ?? 0, args: parse_args(state.run.args)};
    const answer = await ask_moves("moves", request);
    if (!answer) return;
    if (answer.errors || !answer.instructions) throw new Error(answer.errors || "nothing was recorded");
    moves_of = index;
    set_moves(answer, explained.primitives[index], explained.buffers);
  } catch (error) {
    no_moves(`no moves to draw: ${error.message}`);
  }
}
