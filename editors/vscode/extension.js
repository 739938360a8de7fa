// SPDX-License-Identifier: Apache-2.0
// Starts `warpwright lsp` for Python files. All that it shows comes from there.
"use strict";

const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

function activate() {
  const settings = vscode.workspace.getConfiguration("warpwright");
  const log = settings.get("log");
  const server = {
    command: settings.get("path"),
    args: log ? ["lsp", "--log", log] : ["lsp"],
    transport: TransportKind.stdio,
  };
  const options = {
    documentSelector: [{ language: "python" }],
    initializationOptions: { pictures: true },
  };
  client = new LanguageClient("warpwright", "Warpwright", server, options);
  return client.start();
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
