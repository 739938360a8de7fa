// SPDX-License-Identifier: Apache-2.0
//
// The source in a text area, where CodeMirror is not there: the same functions as in editor.js, and a list of names that
// complete the word at the caret. The list follows the ARIA pattern of a list box beside a text field: the field keeps
// the focus, `aria-activedescendant` names the option, and a live region says how many there are.

import {completions, word_before} from "./completion.js";
import {el, put} from "./dom.js";

export function last_first(edits) {
  return [...edits].sort((a, b) => b.line - a.line || b.column - a.column);
}

function offset_of(text, line, column) {
  let at = 0;
  for (let i = 1; i < line; ++i) {
    const end = text.indexOf("\n", at);
    if (end < 0) return text.length;
    at = end + 1;
  }
  return Math.min(text.length, at + column - 1);
}

export function plain_editor(host, {read_only, changed, caret, words}) {
  const area = el("textarea", {
    class: "plain",
    spellcheck: "false",
    wrap: "off",
    "aria-label": "Source of the kernel",
    "aria-autocomplete": "list",
    "aria-haspopup": "listbox",
    "aria-controls": "plain-names",
    readonly: read_only
  });
  const list = new NameList(area, words);
  put(host, area, list.node, list.spoken);
  const line_at_caret = () => area.value.slice(0, area.selectionStart).split("\n").length;
  const reveal = (line) => {
    area.scrollTop = Math.max(0, (line - 6) * line_height(area));
  };
  area.addEventListener("input", (event) => {
    list.typed(event);
    changed();
  });
  for (const name of ["keyup", "click", "focus"]) area.addEventListener(name, () => caret(line_at_caret()));
  return {
    text: () => area.value,
    set_text: (text) => {
      area.value = text;
      changed();
    },
    edit: (edits) => {
      let text = area.value;
      for (const e of last_first(edits)) {
        text = text.slice(0, offset_of(text, e.line, e.column)) + e.text +
            text.slice(offset_of(text, e.end_line, e.end_column));
      }
      area.value = text;
      changed();
    },
    show_problems: () => {},
    mark_lines: () => {},
    reveal,
    go_to: (line, column) => {
      area.focus();
      const at = offset_of(area.value, line, column);
      area.setSelectionRange(at, at);
      reveal(line);
    },
    caret_line: line_at_caret,
    refresh: () => {},
    is_rich: false,
  };
}

function line_height(area) { return parseFloat(getComputedStyle(area).lineHeight) || 18; }

// The list of names at the caret of a text area.
class NameList {
  constructor(area, words) {
    this.area = area;
    this.words = words;
    this.names = [];
    this.chosen = 0;
    this.node =
        el("ul", {id: "plain-names", class: "names", role: "listbox", "aria-label": "Names", hidden: true});
    this.spoken = el("div", {class: "hidden-text", role: "status"});
    area.addEventListener("keydown", (event) => this.key(event));
    area.addEventListener("blur", () => this.close());
    area.addEventListener("click", () => this.close());
    area.addEventListener("scroll", () => this.is_open && this.place(this.word().length));
    // The area keeps the focus.
    this.node.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const at = [...this.node.children].indexOf(event.target.closest("[role=option]"));
      if (at >= 0) this.accept(at);
    });
  }

  get is_open() { return !this.node.hidden; }

  word() { return word_before(this.area.value.slice(0, this.area.selectionStart)); }

  // A dot behind a name opens it; while it is open it follows what is typed.
  typed(event) {
    const is_dot = event.inputType === "insertText" && event.data === ".";
    if (this.is_open || (is_dot && this.word().length > 1)) this.open();
  }

  open() {
    const word = this.word();
    this.names = this.area.readOnly ? [] : completions(this.words(), word).filter((n) => n.name !== word);
    if (this.names.length === 0) return this.close("no names complete this");
    put(this.node, this.names.map(({name, about}, i) => {
      return el(
          "li", {role: "option", id: `plain-name-${i}`}, el("code", {}, name), " ", el("span", {}, about));
    }));
    this.node.hidden = false;
    this.place(word.length);
    this.choose(0);
    this.spoken.textContent = `${this.names.length} names; arrows choose, Enter takes ${this.names[0].name}`;
  }

  close(why = "") {
    if (why || this.is_open) this.spoken.textContent = why;
    this.node.hidden = true;
    this.area.removeAttribute("aria-activedescendant");
  }

  // Under the word; above it where there is no room below.
  place(length) {
    const style = getComputedStyle(this.area);
    const before = this.area.value.slice(0, this.area.selectionStart - length).split("\n");
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = style.font;
    const height = line_height(this.area);
    const left = parseFloat(style.paddingLeft) + pen.measureText(before.at(-1)).width - this.area.scrollLeft;
    const top = parseFloat(style.paddingTop) + before.length * height - this.area.scrollTop;
    const room = this.area.clientHeight - top;
    const needed = this.node.offsetHeight;
    this.node.style.left = `${Math.max(0, Math.min(left, this.area.clientWidth - this.node.offsetWidth))}px`;
    this.node.style.top = `${room >= needed ? top : Math.max(0, top - height - needed)}px`;
  }

  choose(at) {
    this.chosen = Math.max(0, Math.min(this.names.length - 1, at));
    [...this.node.children].forEach((item, i) => item.setAttribute("aria-selected", i === this.chosen));
    const item = this.node.children[this.chosen];
    item.scrollIntoView({block: "nearest"});
    this.area.setAttribute("aria-activedescendant", item.id);
  }

  // In a way that the browser can undo.
  accept(at) {
    const end = this.area.selectionStart;
    this.area.setSelectionRange(end - this.word().length, end);
    const {name} = this.names[at];
    this.close(`${name} taken`);
    if (!document.execCommand("insertText", false, name)) {
      this.area.setRangeText(name, this.area.selectionStart, end, "end");
      this.area.dispatchEvent(new Event("input"));
    }
  }

  key(event) {
    if (event.ctrlKey && event.key === " ") {
      event.preventDefault();
      return this.open();
    }
    if (!this.is_open) return;
    const kPage = 8;
    const to = {
      ArrowDown: this.chosen + 1,
      ArrowUp: this.chosen - 1,
      PageDown: this.chosen + kPage,
      PageUp: this.chosen - kPage
    }[event.key];
    if (to !== undefined)
      this.choose(to);
    else if (event.key === "Enter" || event.key === "Tab")
      this.accept(this.chosen);
    else if (event.key === "Escape")
      this.close("closed");
    else
      return ["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key) ? this.close() : undefined;
    event.preventDefault();
    event.stopPropagation();
  }
}
