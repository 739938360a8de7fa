// SPDX-License-Identifier: Apache-2.0
// editors/vscode without VS Code: its package.json against what the extension asks for, and the extension itself with
// stand-ins for VS Code's modules. The client starts the real server as it is told to and shakes hands.
//
//   PROGRAM=warpwright node vscode.js
//
// Prints one line per answer; clients_test.cpp reads them.
'use strict';

const fs = require('fs');
const Module = require('module');
const path = require('path');
const {spawn} = require('child_process');

const folder = path.join(__dirname, '../../../editors/vscode');
const about = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
const settings = about.contributes.configuration.properties;

function check(holds, what) {
  if (holds) return;
  console.log(`wrong: ${what}`);
  process.exit(1);
}

// What VS Code demands of a package.json.
check(/^[a-z0-9][a-z0-9-]*$/.test(about.name), 'name');
check(/^\d+\.\d+\.\d+$/.test(about.version), 'version');
check(/^\^\d+\.\d+\.\d+$/.test(about.engines.vscode), 'engines.vscode');
check(typeof about.publisher === 'string' && about.publisher !== '', 'publisher');
check(fs.existsSync(path.join(folder, about.main)), 'main');
check(about.activationEvents.every((event) => /^onLanguage:\w+$/.test(event)), 'activationEvents');
for (const [name, setting] of Object.entries(settings)) {
  check(name.startsWith(`${about.name}.`), `setting ${name}`);
  check(typeof setting.default === setting.type && setting.description, `setting ${name}`);
}
console.log(`package ${about.name}, activated by ${about.activationEvents}`);

const values = {
  'warpwright.path': process.env.PROGRAM
};
const vscode = {
  workspace: {
    getConfiguration: (section) => ({
      get: (key) => {
        const name = `${section}.${key}`;
        check(name in settings, `${name} is asked for and is not in package.json`);
        return values[name] ?? settings[name].default;
      }
    })
  }
};

class LanguageClient {
  constructor(id, name, server, options) {
    Object.assign(this, {id, name, server, options});
  }

  start() {
    check(this.server.transport === 'stdio', 'transport');
    this.child = spawn(this.server.command, this.server.args, {stdio: ['pipe', 'pipe', 'inherit']});
    this.ended = new Promise((done) => {
      this.child.on('exit', done);
    });
    const {initializationOptions} = this.options;
    return this.request(
        1, 'initialize',
        {processId: process.pid, rootUri: null, capabilities: {}, initializationOptions});
  }

  async stop() {
    await this.request(2, 'shutdown', null);
    this.send({jsonrpc: '2.0', method: 'exit'});
    return this.ended;
  }

  send(message) {
    const body = JSON.stringify(message);
    this.child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  request(id, method, params) {
    this.send({jsonrpc: '2.0', id, method, params});
    return new Promise((done) => {
      let bytes = '';
      const take = (data) => {
        bytes += data;
        const at = bytes.indexOf('\r\n\r\n');
        const size = Number(/Content-Length: (\d+)/.exec(bytes)?.[1]);
        if (at < 0 || Buffer.byteLength(bytes) < at + 4 + size) return;
        this.child.stdout.off('data', take);
        done(JSON.parse(bytes.slice(at + 4)).result);
      };
      this.child.stdout.on('data', take);
    });
  }
}

const stand_ins = {
  vscode,
  'vscode-languageclient/node': {LanguageClient, TransportKind: {stdio: 'stdio'}}
};
check(Object.keys(about.dependencies).includes('vscode-languageclient'), 'dependencies');
const load = Module._load;
Module._load = (name, ...more) => stand_ins[name] ?? load(name, ...more);

async function main() {
  const extension = require(path.join(folder, about.main));
  const answer = await extension.activate();
  console.log(
      `server ${answer.serverInfo.name}, hover ${Boolean(answer.capabilities.hoverProvider)}`);
  console.log(`ended with ${await extension.deactivate()}`);
}
main();
