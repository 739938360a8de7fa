// SPDX-License-Identifier: Apache-2.0
//
// The source: CodeMirror 5 where the program has it, a plain text area otherwise. Both give the same few functions:
// text, set text, apply edits, show problems, mark lines, go to a line, a listener for changes and for the caret.

import {completions, word_before} from "./completion.js";
import {el} from "./dom.js";
import {last_first, plain_editor} from "./plain_editor.js";

// Loads a classic script or a style sheet of the same origin.
function load(path) {
  return new Promise((done, failed) => {
    const is_style = path.endsWith(".css");
    const node = is_style ? el("link", {rel: "stylesheet", href: path}) : el("script", {src: path});
    node.onload = done;
    node.onerror = () => failed(new Error(`${path} cannot be loaded`));
    document.head.append(node);
  });
}

async function load_codemirror() {
  const own = document.querySelector("link[href=\"style.css\"]");
  await Promise.all([
    load("codemirror/codemirror.js"), load("codemirror/codemirror.css"), load("codemirror/show-hint.css")
  ]);
  document.head.append(own);  // ours last, so that it wins
  await Promise.all(
      ["python", "show-hint", "matchbrackets", "active-line"].map((name) => load(`codemirror/${name}.js`)));
}

// listeners: {changed(), caret(line)}; words(): names for completion, {name, signature, text}.
export async function make_editor(host, {rich, read_only, changed, caret, words}) {
  if (rich) {
    try {
      await load_codemirror();
      return rich_editor(host, {read_only, changed, caret, words});
    } catch (error) {
      console.warn(error.message);
    }
  }
  return plain_editor(host, {read_only, changed, caret, words});
}

function make_mirror(host, {read_only, changed, caret, words}) {
  const mirror = window.CodeMirror(host, {
    mode: "python",
    lineNumbers: true,
    indentUnit: 4,
    matchBrackets: true,
    styleActiveLine: true,
    readOnly: read_only,
    gutters: ["CodeMirror-linenumbers", "problem-gutter"],
    // Tab leaves the editor, as everywhere on the page; Ctrl-] indents.
    extraKeys: {
      "Tab": false,
      "Shift-Tab": false,
      "Ctrl-]": "indentMore",
      "Ctrl-[": "indentLess",
      "Ctrl-Space": () => complete(mirror, words)
    },
  });
  mirror.getInputField().setAttribute("aria-label", "Source of the kernel");
  mirror.on("changes", () => changed());
  mirror.on("cursorActivity", () => caret(mirror.getCursor().line + 1));
  mirror.on("inputRead", (_, change) => {
    if (change.text[0] === ".") complete(mirror, words);
  });
  return mirror;
}

// A function that underlines problems, and forgets those of the call before.
function problem_marker(mirror) {
  let marks = [];
  return (problems) => {
    for (const mark of marks) mark.clear();
    mirror.clearGutter("problem-gutter");
    marks = problems.filter((p) => p.line > 0 && p.line <= mirror.lineCount()).map((p) => {
      mirror.setGutterMarker(
          p.line - 1, "problem-gutter", el("span", {class: "line-" + p.severity, title: p.message}, "●"));
      return mirror.markText(
          {line: p.line - 1, ch: p.column - 1},
          {line: p.end_line - 1, ch: Math.max(p.end_column - 1, p.column)},
          {className: "problem-" + p.severity, title: p.message});
    });
  };
}

// A function that gives lines a background, and takes it from those of the call before.
function line_marker(mirror) {
  let linked = [];
  return (lines, kind) => {
    for (const [line, name] of linked) mirror.removeLineClass(line, "background", name);
    linked = lines.filter((line) => line > 0)
                 .map((line) => [mirror.addLineClass(line - 1, "background", kind), kind]);
  };
}

function rich_editor(host, options) {
  const mirror = make_mirror(host, options);
  return {
    text: () => mirror.getValue(),
    set_text: (text) => mirror.setValue(text),
    edit: (edits) => mirror.operation(() => {
      for (const e of last_first(edits)) {
        mirror.replaceRange(
            e.text, {line: e.line - 1, ch: e.column - 1}, {line: e.end_line - 1, ch: e.end_column - 1});
      }
    }),
    show_problems: problem_marker(mirror),
    mark_lines: line_marker(mirror),
    reveal: (line) => mirror.scrollIntoView({line: line - 1, ch: 0}, 80),
    go_to: (line, column) => {
      mirror.focus();
      mirror.setCursor(line - 1, Math.max(0, column - 1));
      mirror.scrollIntoView({line: line - 1, ch: 0}, 80);
    },
    caret_line: () => mirror.getCursor().line + 1,
    refresh: () => mirror.refresh(),
    is_rich: true,
  };
}

// Names that begin with the dotted word before the caret.
function complete(mirror, words) {
  const hint = () => {
    const cursor = mirror.getCursor();
    const word = word_before(mirror.getLine(cursor.line).slice(0, cursor.ch));
    return {
      list: completions(words(), word).map(({name,
                                             about}) => ({text: name, displayText: `${name}   ${about}`})),
      from: {line: cursor.line, ch: cursor.ch - word.length},
      to: cursor
    };
  };
  mirror.showHint({hint, completeSingle: false});
}
