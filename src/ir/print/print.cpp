// SPDX-License-Identifier: Apache-2.0
#include "ir/print/print.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

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
void Writer::imports() {
  line("from tvm.script import tirx as T");
  line("from tvm.script.tirx import tile as Tx");
  if (names_.has_layouts()) {
    std::vector<std::string> names = {"S", "R", "TileLayout", "ComposeLayout"};
    if (names_.has_own_axes()) names.emplace_back("Axis");
    names.insert(names.end(), names_.axes().begin(), names_.axes().end());
    line(fmt::format("from tvm.tirx.layout import {}", fmt::join(names, ", ")));
  }
  line("");
}

void Writer::signature() {
  std::vector<std::string> arguments;
  for (const auto& [key, value] : f_.attrs) {
    if (is_decorator_arg(key)) arguments.push_back(fmt::format("{}={}", key, setting(value)));
  }
  for (const VarId extent : names_.host_extents())
    line(fmt::format("{} = {}()", names_.of(extent), annotation(f_[extent].type)));
  line(arguments.empty() ? "@T.prim_func"
                         : fmt::format("@T.prim_func({})", fmt::join(arguments, ", ")));
  std::vector<std::string> params;
  for (const Param& param : f_.params) {
    params.push_back(
        param.buffer.valid()
            ? fmt::format("{}: {}", names_.of(param.buffer), buffer_annotation(f_[param.buffer]))
            : fmt::format("{}: {}", names_.of(param.var), annotation(f_[param.var].type)));
  }
  line(fmt::format("def {}({}):", f_.name, fmt::join(params, ", ")));
}

void Writer::body() {
  const std::size_t before = out_.size();
  std::vector<std::pair<std::string, Setting>> attrs;
  for (const auto& attr : f_.attrs) {
    if (!is_decorator_arg(attr.first)) attrs.push_back(attr);
  }
  if (!attrs.empty()) line(fmt::format("T.func_attr({})", settings(attrs)));
  for (const VarId extent : names_.extents())
    line(fmt::format("{} = {}()", names_.of(extent), annotation(f_[extent].type)));
  block(f_.host);
  if (f_.has_device_entry) line("T.device_entry()");
  block(f_.body);
  if (out_.size() == before) line("pass");
}

void Writer::function(PrintOptions options) {
  if (options.header) imports();
  signature();
  ++indent_;
  body();
  --indent_;
}

}  // namespace printing

std::string print(const Function& function, PrintOptions options) {
  printing::Writer writer(function);
  writer.function(options);
  return writer.take();
}

std::string print(const Function& function, ExprId expr) {
  return printing::Writer(function).expr(expr);
}

std::string print(const Function& function, StmtId stmt) {
  printing::Writer writer(function);
  writer.stmt(stmt);
  return writer.take();
}

std::string print(const Function& function, const Region& region) {
  return printing::Writer(function).region(region);
}

}  // namespace ww::ir
