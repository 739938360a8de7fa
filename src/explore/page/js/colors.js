// SPDX-License-Identifier: Apache-2.0
//
// Colours for canvases. One scale, from dark violet to yellow, readable with any kind of colour blindness; it
// always means "from the least to the most" of what the legend names. Other colours come from style.css.

const kStops = [
  [68, 1, 84], [72, 40, 120], [62, 73, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137], [53, 183, 121],
  [110, 206, 88], [181, 222, 43], [253, 231, 37]
];

// t in 0..1 -> [r, g, b]
export function scale(t) {
  const x = Math.max(0, Math.min(1, t)) * (kStops.length - 1);
  const i = Math.min(kStops.length - 2, Math.floor(x));
  const f = x - i;
  return kStops[i].map((c, k) => Math.round(c + (kStops[i + 1][k] - c) * f));
}

export function rgb([r, g, b]) { return `rgb(${r} ${g} ${b})`; }

// Black or white, whichever reads better on this colour.
export function ink_on([r, g, b]) {
  const linear =
      [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  const light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  return light > 0.179 ? "#000" : "#fff";
}

export function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

const theme_listeners = [];
export function on_theme(f) { theme_listeners.push(f); }
export function theme_changed() {
  for (const f of theme_listeners) f();
}
