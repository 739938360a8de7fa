// SPDX-License-Identifier: Apache-2.0
//
// Requests to the program behind the page. A page written by `--export` has the answers in itself, by the names of
// the requests, and asks nothing.

import {Snapshots} from "./snapshots.js";

const answers_node = document.getElementById("answers");
export const baked = answers_node ? JSON.parse(answers_node.textContent) : null;
const baked_states = baked?.states && baked.steps ? new Snapshots(baked) : null;

function baked_answer(name, request) {
  let answer = baked[name];
  if (name === "moves") answer = answer?.[request.primitive];
  if (name === "layout") answer = baked_layout(request);
  if (name === "state") answer = baked_states?.state(request);
  if (name === "run" && answer) answer = {result: answer};
  if (answer === undefined || answer === null) {
    throw new Error(`this read-only copy has no answer for \`${name}\`; start \`warpwright explore\``);
  }
  return answer;
}

// Buffers are there, each under its name; operations on them are not.
function baked_layout(request) {
  const plain = (request.ops ?? []).length === 0;
  const found = Object.values(baked.layouts ?? {}).find((layout) => layout?.layout === request.notation);
  return plain && found ? {layout: found, error: null, remarks: []} : null;
}

async function failure(response) {
  const text = await response.text();
  try {
    return new Error(JSON.parse(text).error);
  } catch {
    return new Error(`the server answered ${response.status}${text ? ": " + text.slice(0, 200) : ""}`);
  }
}

async function post(name, request, signal) {
  try {
    return await fetch("api/" + name, {
      method: "POST",
      headers: {"Content-Type": "application/json"},
      body: JSON.stringify(request),
      signal
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("no answer from `warpwright explore`: is it still running?");
  }
}

export async function call(name, request = {}, signal = undefined) {
  if (baked) return baked_answer(name, request);
  const response = await post(name, request, signal);
  if (!response.ok) throw await failure(response);
  return response.json();
}

export async function start() {
  if (baked) return baked.start;
  const response = await fetch("api/start");
  if (!response.ok) throw await failure(response);
  return response.json();
}

// Reads lines of JSON as they come; on_line(value) for each.
export async function stream(name, request, on_line, signal) {
  if (baked) return on_line(baked_answer(name, request));
  const response = await post(name, request, signal);
  if (!response.ok) throw await failure(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const {value, done} = await reader.read();
    rest += value ?? "";
    const lines = rest.split("\n");
    rest = lines.pop();
    for (const line of lines)
      if (line.trim() !== "") on_line(JSON.parse(line));
    if (done) break;
  }
  if (rest.trim() !== "") on_line(JSON.parse(rest));
}

// The newest of several requests of one kind: older ones are cancelled, their answers dropped.
export function newest() {
  let current = null;
  return async (name, request) => {
    current?.abort();
    const mine = new AbortController();
    current = mine;
    try {
      const answer = await call(name, request, mine.signal);
      return mine === current ? answer : null;
    } catch (error) {
      if (error.name === "AbortError" || mine !== current) return null;
      throw error;
    }
  };
}
