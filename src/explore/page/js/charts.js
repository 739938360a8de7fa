// SPDX-License-Identifier: Apache-2.0
//
// Counters as charts: what was executed by family, and the lines whose accesses take more than they need.

import {el, number, svg, table} from "./dom.js";

const kBarWidth = 220;
const kMaxCostly = 14;

// rows: [name, value, of which at best or null]
export function bar_chart(title, rows) {
  const most = Math.max(1, ...rows.map((r) => r[1]));
  const chart = svg("svg", {
    class: "chart",
    width: 480,
    height: 18 * rows.length + 4,
    role: "img",
    "aria-label": `${title}: ${rows.map(([name, value]) => `${name} ${value}`).join(", ")}`
  });
  rows.forEach(([name, value, best], i) => {
    const y = 18 * i;
    chart.append(
        svg("text", {x: 104, y: y + 13, "text-anchor": "end"}, name), svg("rect", {
          class: best === null || best === undefined ? "bar-one" : "bar-two",
          x: 110,
          y: y + 3,
          width: Math.max(1, kBarWidth * value / most),
          height: 12
        }),
        svg("text", {x: 116 + kBarWidth * value / most, y: y + 13, class: "quiet"},
            best === null || best === undefined ? number(value) :
                                                  `${number(value)}, ${number(best)} at best`));
    if (best !== null && best !== undefined)
      chart.append(
          svg("rect", {class: "bar-one", x: 110, y: y + 3, width: kBarWidth * best / most, height: 12}));
  });
  return el("figure", {}, el("h3", {}, title), chart);
}

export function counters_section(counters, go_to_line) {
  if (!counters) return el("p", {class: "note"}, "No counters: run the kernel first.");
  const executed =
      [...counters.families].sort((a, b) => b.executed - a.executed).map((f) => [f.family, f.executed, null]);
  const sum = (name) => counters.lines.reduce((total, l) => total + (l[name] ?? 0), 0);
  const memory = [
    ["wavefronts", sum("wavefronts"), sum("ideal_wavefronts")],
    ["sectors", sum("sectors"), sum("ideal_sectors")]
  ].filter((row) => row[1] > 0);
  const costly =
      counters.lines.filter((l) => l.wavefronts > l.ideal_wavefronts || l.sectors > l.ideal_sectors)
          .sort((a, b) => (b.wavefronts - b.ideal_wavefronts) - (a.wavefronts - a.ideal_wavefronts))
          .slice(0, kMaxCostly);
  const rows = costly.map(
      (l) =>
          [go_to_line(l), el("code", {}, l.instruction.replaceAll("\t", " ").slice(0, 60)),
           number(l.executed), `${number(l.wavefronts)} / ${number(l.ideal_wavefronts)}`,
           `${number(l.sectors)} / ${number(l.ideal_sectors)}`]);
  return el(
      "div", {}, bar_chart("Warp instructions executed, by family", executed),
      memory.length ? bar_chart("Memory", memory) : null,
      rows.length ?
          table(
              "Lines that need more than the least",
              ["line", "instruction", "executed", "wavefronts / least", "sectors / least"], rows) :
          el("p", {class: "fine"}, "No line needs more wavefronts or sectors than the least possible."));
}
