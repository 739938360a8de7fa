// SPDX-License-Identifier: Apache-2.0
//
// Elements without markup: `el("button", {type: "button", onclick: f}, "Run")`. Text from a kernel goes through
// text nodes only, never as markup.

const kSvg = "http://www.w3.org/2000/svg";

function set_property(node, name, value) {
  if (value === undefined || value === null) return;
  if (name.startsWith("aria-")) return node.setAttribute(name, String(value));
  if (value === false) return;
  if (name.startsWith("on"))
    node.addEventListener(name.slice(2), value);
  else if (name === "class")
    node.setAttribute("class", value);
  else if (name === "value" || name === "checked" || name === "disabled" || name === "selected")
    node[name] = value;
  else
    node.setAttribute(name, value === true ? "" : String(value));
}

function fill_node(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) set_property(node, name, value);
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

export function el(tag, attributes, ...children) {
  return fill_node(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes, ...children) {
  return fill_node(document.createElementNS(kSvg, tag), attributes, children);
}

export function by_id(id) { return document.getElementById(id); }

// Replaces all children.
export function put(node, ...children) {
  node.replaceChildren();
  return fill_node(node, {}, children);
}

// A labelled control: the label names it for everyone.
export function field(label, control, hint) {
  return el("label", {class: "field", title: hint}, label, " ", control);
}

export function button(label, onclick, attributes) {
  return el("button", {type: "button", onclick, ...attributes}, label);
}

export function text_input(attributes) {
  return el("input", {type: "text", spellcheck: "false", ...attributes});
}

// options: strings, or [value, text] pairs.
export function select(options, chosen, onchange, attributes) {
  const node = el("select", {...attributes});
  for (const option of options) {
    const [value, text] = Array.isArray(option) ? option : [option, option];
    node.append(el("option", {value, selected: value === chosen}, text));
  }
  if (chosen !== undefined && chosen !== null) node.value = chosen;
  if (onchange) node.addEventListener("change", () => onchange(node.value));
  return node;
}

// rows: arrays of cells; a cell is text or a node.
export function table(caption, headers, rows, attributes) {
  const head = el("tr", {}, headers.map((h) => el("th", {scope: "col"}, h)));
  const body = rows.map((cells) => el("tr", {}, cells.map((c) => el("td", {}, c))));
  return el(
      "table", {...attributes}, el("caption", {}, caption), el("thead", {}, head), el("tbody", {}, body));
}

// Calls `f` once, `ms` after the last call.
export function debounce(f, ms) {
  let timer = 0;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => f(...args), ms);
  };
}

export function number(n) { return n === null || n === undefined ? "–" : Number(n).toLocaleString("en"); }

export function plural(n, word) { return `${number(n)} ${word}${n === 1 ? "" : "s"}`; }

// The first of `count` numbers from which on `holds` is true; `count` where there is none.
export function first_from(count, holds) {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

// Arrow keys move within a list of items of which one has tabindex 0 (roving focus).
export function rove(host, selector, on_move) {
  host.addEventListener("keydown", (event) => {
    const items = [...host.querySelectorAll(selector)];
    const at = items.indexOf(document.activeElement);
    if (at < 0) return;
    const to = {
      ArrowDown: at + 1,
      ArrowRight: at + 1,
      ArrowUp: at - 1,
      ArrowLeft: at - 1,
      Home: 0,
      End: items.length - 1,
      PageDown: at + 20,
      PageUp: at - 20
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const item = items[Math.max(0, Math.min(items.length - 1, to))];
    focus_in(items, item);
    on_move?.(item);
  });
}

export function focus_in(items, item) {
  for (const other of items) other.tabIndex = other === item ? 0 : -1;
  item.focus();
}
