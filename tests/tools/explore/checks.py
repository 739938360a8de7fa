# SPDX-License-Identifier: Apache-2.0
"""What every view must keep: names, roles, contrast and tab order of its controls, and a layout in which nothing is
cut off or covered. The checks run in the page and return what is wrong, as texts."""

# Shared by the scripts below: what is seen, and how a control is called (a part of the accessible name computation).
COMMON = """
const seen = (n) => n.checkVisibility({visibilityProperty: true, opacityProperty: true}) && n.getClientRects().length > 0;
const name_of = (n) => {
  const by = n.getAttribute('aria-labelledby');
  if (by) return by.split(/\\s+/).map((id) => document.getElementById(id)?.textContent ?? '').join(' ').trim();
  if (n.getAttribute('aria-label')) return n.getAttribute('aria-label').trim();
  if (n.labels?.length) return own_text(n.labels[0]);
  const fixed = ['BUTTON', 'A', 'SUMMARY'].includes(n.tagName) || ['tab', 'option', 'link'].includes(n.getAttribute('role'));
  return (fixed ? n.textContent : n.getAttribute('title') ?? '').trim();
};
const own_text = (label) => [...label.childNodes].filter((c) => c.nodeType === 3).map((c) => c.data).join(' ').trim();
const kControls = 'a[href], button, input, select, textarea, summary, [tabindex]';
const controls = () => [...document.querySelectorAll(kControls)].filter(seen);
const role_of = (n) => n.getAttribute('role') ?? '';
const what = (n) => `${n.tagName.toLowerCase()}${n.id ? '#' + n.id : ''}[${role_of(n)}] "${name_of(n).slice(0, 40)}"`;
const mark = (n) => what(n) + ' ' + (n.dataset.testId ??= String(Math.random()));
"""

ACCESSIBILITY = COMMON + """
const wrong = [];
for (const n of controls()) {
  if (n.closest('.CodeMirror') && n.tagName !== 'TEXTAREA') continue;
  if (n.id !== 'views' && name_of(n) === '') wrong.push(`no name: ${n.outerHTML.slice(0, 90)}`);
  if (n.tabIndex > 0) wrong.push(`positive tabindex: ${what(n)}`);
}
const needs = {tab: 'tablist', option: 'listbox', row: 'grid', gridcell: 'row'};
for (const n of document.querySelectorAll('[role]')) {
  const parent = needs[n.getAttribute('role')];
  if (parent && !n.closest(`[role=${parent}]`)) wrong.push(`role ${n.getAttribute('role')} outside of a ${parent}`);
  const panel = document.getElementById(n.getAttribute('aria-controls') ?? '');
  if (role_of(n) === 'tab' && !panel) wrong.push(`tab without a panel: ${what(n)}`);
}
for (const id of [...document.querySelectorAll('[id]')].map((n) => n.id)) {
  if (document.querySelectorAll(`[id="${CSS.escape(id)}"]`).length > 1) wrong.push(`id twice: ${id}`);
}
for (const list of document.querySelectorAll('[role=tablist]')) {
  const selected = list.querySelectorAll('[role=tab][aria-selected=true]').length;
  if (seen(list) && selected !== 1) wrong.push(`tablist with ${selected} selected tabs: ${list.getAttribute('aria-label')}`);
}
return wrong;
"""

CONTRAST = COMMON + """
const parse = (text) => { const m = text.match(/[\\d.]+/g).map(Number); return {rgb: m.slice(0, 3), a: m[3] ?? 1}; };
const back_of = (n) => {
  for (; n; n = n.parentElement) {
    const {rgb, a} = parse(getComputedStyle(n).backgroundColor);
    if (a > 0.99) return rgb;
  }
  return [255, 255, 255];
};
const light = (rgb) => {
  const [r, g, b] = rgb.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const wrong = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const done = new Set();
for (let t = walker.nextNode(); t; t = walker.nextNode()) {
  const n = t.parentElement;
  const unseen = n.closest('option, script, noscript, .hidden-text, .CodeMirror-measure, svg');
  if (done.has(n) || t.data.trim() === '' || !seen(n) || unseen) continue;
  done.add(n);
  const [x, y] = [light(parse(getComputedStyle(n).color).rgb), light(back_of(n))];
  const ratio = (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
  const text = t.data.trim().slice(0, 40);
  if (ratio < 4.5) wrong.push(`contrast ${ratio.toFixed(2)}: "${text}" ${n.tagName.toLowerCase()}.${n.className}`);
}
return [...new Set(wrong)];
"""

# Controls of one group must not cover each other, and those of the frame must be inside of the window.
OVERLAPS = COMMON + """
const wrong = [];
const frame = (n) => innerWidth > 900 && n.closest('header, footer, #tabs');  // narrow pages scroll
const group = (n) => n.parentElement.closest('[role=tabpanel], header, footer, form');
const scroller = (n) => n.closest('.scroll, .code-lines, .list');
const outside = (box) => box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1;
const all = controls().filter((n) => !n.closest('.CodeMirror') && n.id !== 'skip')
                      .map((n) => ({n, box: n.getBoundingClientRect()}));
for (const {n, box} of all) {
  if (frame(n) && outside(box)) wrong.push(`outside of the window: ${what(n)}`);
}
for (let i = 0; i < all.length; ++i) {
  for (let k = i + 1; k < all.length; ++k) {
    const [a, b] = [all[i], all[k]];
    if (a.n.contains(b.n) || b.n.contains(a.n) || group(a.n) !== group(b.n) || scroller(a.n) !== scroller(b.n)) continue;
    const x = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
    const y = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
    if (x > 2 && y > 2) wrong.push(`${what(a.n)} covers ${what(b.n)}`);
  }
}
if (document.documentElement.scrollWidth > innerWidth + 1) wrong.push('the page scrolls sideways');
return wrong;
"""

# The structure of what is seen: landmarks, headings, controls, tables with their columns, by the part of the frame
# that they are in; in the order of the page.
STRUCTURE = COMMON + """
const kParts = {header: 'header', footer: 'footer', '#left': 'left', '#views': 'right'};
const part = (n) => Object.entries(kParts).find(([selector]) => n.closest(selector))?.[1] ?? 'frame';
const kShown = `h1, h2, h3, button, input, select, table, figure svg,
                [role=grid], [role=listbox], [role=region], [role=tab], [role=separator]`;
const columns = (table) => [...table.querySelectorAll('thead th')].map((h) => h.textContent).join(' | ');
const lines = [];
for (const n of document.querySelectorAll(kShown)) {
  if (!seen(n) || n.closest('.CodeMirror') || n.closest('tbody') || n.closest('[role=option]')) continue;
  const role = n.getAttribute('role') ?? n.tagName.toLowerCase();
  const selected = n.getAttribute('aria-selected') === 'true' ? ' selected' : '';
  if (role === 'table') lines.push(`${part(n)} table "${n.caption?.textContent}" ${columns(n)}`.trimEnd());
  else if (/^h[123]$/.test(role)) lines.push(`${part(n)} ${role} "${n.textContent.trim()}"`);
  else lines.push(`${part(n)} ${role} "${name_of(n).slice(0, 60)}"${selected}`);
}
return lines;
"""

# Where Tab leads, from the start of the page until it comes round: names of controls.
FOCUSED = COMMON + "const n = document.activeElement; return n === document.body ? '' : mark(n);"
REACHABLE = COMMON + """
return controls().filter((n) => n.tabIndex >= 0 && !n.disabled && !n.closest('.CodeMirror') && n.id !== 'views').map(mark);
"""

# Frame times in milliseconds while `move(i)` is called once a frame.
FRAMES = """
const [selector, kind, count] = arguments;
const done = arguments[arguments.length - 1];
const widget = document.querySelector(selector)[kind];
const times = [];
let before = performance.now();
let i = 0;
const tick = (now) => {
  times.push(now - before);
  before = now;
  if (kind === 'grid') widget.pan_to((i * 7) % 900, (i * 5) % 700);
  else widget.look(i * 400, i * 400 + 20000);
  if (++i < count) requestAnimationFrame(tick);
  else done(times.slice(2));
};
requestAnimationFrame(tick);
"""
