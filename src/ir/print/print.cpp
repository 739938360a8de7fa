// SPDX-License-Identifier: Apache-2.0
#include "ir/print/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/join.h"
#include "ir/print/printer.h"

namespace ww::ir {
namespace printing {
namespace {

// What `@T.prim_func(…)` takes; other attributes stand in the body.
constexpr std::array<std::string_view, 4> kDecoratorArgs = {"private", "check_well_formed", "s_tir",
                                                            "persistent"};

bool is_decorator_arg(std::string_view key) {
  return std::ranges::find(kDecoratorArgs, key) != kDecoratorArgs.end();
}

}  // namespace

// The second line is what tells the reader which spelling of the language follows.
void FunctionWriter::imports() {
  line("from tvm.script import tirx as T");
  line("from tvm.script.tirx import tile as Tx");
  if (c_.names.has_layouts()) {
    std::vector<std::string> names = {"S", "R", "TileLayout", "ComposeLayout"};
    if (c_.names.has_own_axes()) names.emplace_back("Axis");
    names.insert(names.end(), c_.names.axes().begin(), c_.names.axes().end());
    line(fmt::format("from tvm.tirx.layout import {}", join(names, ", ")));
  }
  line("");
}

void FunctionWriter::signature() {
  std::vector<std::string> arguments;
  for (const auto& [key, value] : c_.f.attrs) {
    if (is_decorator_arg(key)) arguments.push_back(fmt::format("{}={}", key, setting(c_, value)));
  }
  for (const VarId extent : c_.names.host_extents())
    line(fmt::format("{} = {}()", c_.names.of(extent), annotation(c_.f[extent].type)));
  line(arguments.empty() ? "@T.prim_func" : fmt::format("@T.prim_func({})", join(arguments, ", ")));
  std::vector<std::string> params;
  for (const Param& param : c_.f.params) {
    params.push_back(param.buffer.valid() ? fmt::format("{}: {}", c_.names.of(param.buffer),
                                                        buffer_annotation(c_, c_.f[param.buffer]))
                                          : fmt::format("{}: {}", c_.names.of(param.var),
                                                        annotation(c_.f[param.var].type)));
  }
  line(fmt::format("def {}({}):", c_.f.name, join(params, ", ")));
}

void FunctionWriter::body() {
  const std::size_t before = out_.size();
  std::vector<std::pair<std::string, Setting>> attrs;
  for (const auto& attr : c_.f.attrs) {
    if (!is_decorator_arg(attr.first)) attrs.push_back(attr);
  }
  if (!attrs.empty()) line(fmt::format("T.func_attr({})", settings(c_, attrs)));
  for (const VarId extent : c_.names.extents())
    line(fmt::format("{} = {}()", c_.names.of(extent), annotation(c_.f[extent].type)));
  block(c_.f.host);
  if (c_.f.has_device_entry) line("T.device_entry()");
  block(c_.f.body);
  if (out_.size() == before) line("pass");
}

void FunctionWriter::function(PrintOptions options) {
  if (options.header) imports();
  signature();
  ++indent_;
  body();
  --indent_;
}

}  // namespace printing

std::string print(const Function& function, PrintOptions options) {
  printing::FunctionWriter writer(function);
  writer.function(options);
  return writer.take();
}

PrintedLines print_lines(const Function& function, PrintOptions options) {
  printing::FunctionWriter writer(function);
  writer.function(options);
  return {writer.take(), writer.take_spans()};
}

std::string print(const Function& function, ExprId expr) {
  return printing::expr(printing::Context(function), expr);
}

std::string print(const Function& function, StmtId stmt) {
  printing::FunctionWriter writer(function);
  writer.stmt(stmt);
  return writer.take();
}

std::string print(const Function& function, const Region& region) {
  return printing::region(printing::Context(function), region);
}

}  // namespace ww::ir
