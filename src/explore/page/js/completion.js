// SPDX-License-Identifier: Apache-2.0
//
// Which names complete a word; the names are those of the compiler's reference, as in the language server.

const kMaxHints = 60;
const kMaxAbout = 70;

// The dotted word that a text ends with: "Tx.copy_a".
export function word_before(text) { return /[A-Za-z_][\w.]*$/.exec(text)?.[0] ?? ""; }

// all: [{name, text}]. Names that begin so come first, then names with it inside, each with what it is.
export function completions(all, word) {
  const lower = word.toLowerCase();
  const starts = all.filter((w) => w.name.toLowerCase().startsWith(lower));
  const has =
      lower.length < 3 ? [] : all.filter((w) => !starts.includes(w) && w.name.toLowerCase().includes(lower));
  return [...starts, ...has]
      .slice(0, kMaxHints)
      .map((w) => ({name: w.name, about: (w.text ?? "").slice(0, kMaxAbout)}));
}
