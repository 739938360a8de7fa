-- SPDX-License-Identifier: Apache-2.0
-- A session of Neovim with the server, without a screen:
--
--   PROGRAM=warpwright FILE=kernel.py nvim --headless -u NONE -l …   (0.7: -c "luafile neovim.lua")
--
-- Prints one line per answer; clients_test.cpp reads them. Ends with status 1 when something is missing.

local lines = {}
local function say(...)
  table.insert(lines, string.format(...))
end
local function finish(status)
  io.stdout:write(table.concat(lines, "\n") .. "\n")
  io.stdout:flush()
  vim.cmd(status == 0 and "qall!" or "cquit " .. status)
end
local function wait_for(what, holds)
  if not vim.wait(60000, holds, 5) then
    say("no %s", what)
    finish(1)
  end
end

local buffer = vim.api.nvim_get_current_buf()
local client = vim.lsp.start_client({ name = "warpwright", cmd = { vim.env.PROGRAM, "lsp" } })
vim.lsp.buf_attach_client(buffer, client)
wait_for("server", function()
  return vim.lsp.get_client_by_id(client) ~= nil and vim.lsp.buf_is_attached(buffer, client)
end)

local function request(method, params)
  local answer
  vim.lsp.buf_request(buffer, method, params, function(problem, result)
    answer = { problem = problem, result = result }
  end)
  wait_for(method, function()
    return answer ~= nil
  end)
  if answer.problem then
    say("%s: %s", method, answer.problem.message)
    finish(1)
  end
  return answer.result
end
local document = { uri = vim.uri_from_bufnr(buffer) }

-- The file has one misspelt word.
wait_for("diagnostics", function()
  return #vim.diagnostic.get(buffer) > 0
end)
for _, each in ipairs(vim.diagnostic.get(buffer)) do
  say("diagnostic %d:%d %s", each.lnum + 1, each.col + 1, each.message)
end

-- Its quick fix, applied by Neovim.
local all = { start = { line = 0, character = 0 }, ["end"] = { line = 999, character = 0 } }
local action = request("textDocument/codeAction", { textDocument = document, range = all, context = { diagnostics = {} } })[1]
say("action %s", action.title)
vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
wait_for("diagnostics to go", function()
  return #vim.diagnostic.get(buffer) == 0
end)
say("diagnostics 0")

for _, each in ipairs(request("textDocument/inlayHint", { textDocument = document, range = all })) do
  say("hint %d %s", each.position.line + 1, each.label)
end

-- Hover at the first `staged`.
local row = vim.fn.search("staged") - 1
local place = { line = row, character = vim.fn.getline(row + 1):find("staged") - 1 }
local hover = request("textDocument/hover", { textDocument = document, position = place })
say("hover %s", vim.split(hover.contents.value, "\n")[1])

local lens = request("textDocument/codeLens", { textDocument = document })[1]
local result = request("workspace/executeCommand", { command = lens.command.command, arguments = lens.command.arguments })
say("run %s", result.message)

vim.lsp.stop_client(client)
finish(0)
