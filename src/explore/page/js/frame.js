// SPDX-License-Identifier: Apache-2.0
//
// The frame around the views: tabs, the splitter, light and dark, the keyboard and its help.

import {theme_changed} from "./colors.js";
import {button, by_id, el, put, rove, table} from "./dom.js";
import {state, update} from "./state.js";

// views: [{name, title, node, shown()}]
export function make_tabs(views) {
  const tabs = by_id("tabs");
  for (const view of views) {
    const id = `tab-${view.name}`;
    tabs.append(button(
        view.title, () => update({tab: view.name}),
        {role: "tab", id, "aria-controls": `panel-${view.name}`, "data-view": view.name}));
    const panel = el("div", {role: "tabpanel", id: `panel-${view.name}`, "aria-labelledby": id});
    panel.append(...view.nodes);
    by_id("panels").append(panel);
  }
  rove(tabs, "[role=tab]", (tab) => update({tab: tab.dataset.view}));
}

export function show_tab(views) {
  const known = views.some((v) => v.name === state.tab) ? state.tab : views[0].name;
  for (const view of views) {
    const on = view.name === known;
    const tab = by_id(`tab-${view.name}`);
    tab.setAttribute("aria-selected", on);
    tab.tabIndex = on ? 0 : -1;
    by_id(`panel-${view.name}`).hidden = !on;
    if (on) view.shown?.();
  }
}

export function make_splitter(changed) {
  const splitter = by_id("splitter");
  const main = by_id("main");
  const set = (percent) => {
    const value = Math.round(Math.max(15, Math.min(80, percent)));
    main.style.setProperty("--left", `${value}%`);
    splitter.setAttribute("aria-valuenow", value);
    changed();
  };
  const now = () => Number(splitter.getAttribute("aria-valuenow"));
  splitter.addEventListener("keydown", (event) => {
    const to = {ArrowLeft: now() - 3, ArrowRight: now() + 3, Home: 15, End: 80}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    set(to);
  });
  splitter.addEventListener("pointerdown", (event) => splitter.setPointerCapture(event.pointerId));
  splitter.addEventListener("pointermove", (event) => {
    if (splitter.hasPointerCapture(event.pointerId)) set(100 * event.clientX / main.clientWidth);
  });
}

// auto follows the system; the choice is kept for the next visit where the browser lets us.
const kThemes = ["auto", "light", "dark"];

export function make_theme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const kept = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null;
    }
  };
  let theme = kThemes.includes(kept()) ? kept() : "auto";
  const apply = () => {
    const dark = theme === "dark" || (theme === "auto" && system.matches);
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    by_id("theme").textContent = `Theme: ${theme}`;
    theme_changed();
  };
  by_id("theme").addEventListener("click", () => {
    theme = kThemes[(kThemes.indexOf(theme) + 1) % kThemes.length];
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // a page from a file may not keep anything
    }
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}

// keys: [{keys: "Alt+1", text, run}]; shown in the dialog of the button `Keys`, which F1 opens, too.
export function make_keys(keys) {
  const dialog = by_id("keys");
  const rows = keys.map((k) => [el("kbd", {}, k.keys), k.text]);
  put(dialog, table("Keyboard", ["Key", "What it does"], rows),
      el("p", {class: "note"}, "In grids: arrows move, + and − zoom, 0 fits. Drag or scroll pans."),
      button("Close", () => dialog.close()));
  by_id("help").addEventListener("click", () => dialog.showModal());
  document.addEventListener("keydown", (event) => {
    const name = [
      event.ctrlKey || event.metaKey ? "Ctrl+" : "", event.altKey ? "Alt+" : "",
      event.shiftKey && event.key.length > 1 ? "Shift+" : "",
      event.key.length === 1 ? event.key.toUpperCase() : event.key
    ].join("");
    const found = keys.find((k) => k.run && k.keys === name);
    if (!found) return;
    event.preventDefault();
    found.run();
  });
}

export function say(text) { by_id("activity").textContent = text; }
