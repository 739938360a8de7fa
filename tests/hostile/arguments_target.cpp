// SPDX-License-Identifier: Apache-2.0
// The small notations of the command line, one line each: arrays and scalars for a kernel, what is
// expected of them, and what `warpwright sim` takes for a launch. Every refusal is located.
#include <string>
#include <vector>

#include "base/source.h"
#include "driver/args/array_spec.h"
#include "driver/args/kernel_args.h"
#include "driver/args/text.h"
#include "driver/expect/expect.h"
#include "driver/layout/tool.h"
#include "driver/sim/args.h"
#include "driver/sim/options.h"
#include "hostile/targets.h"
#include "script/compile.h"

namespace ww::fuzz {
namespace {

// Buffers of several types, an extent known at launch, a scalar.
constexpr std::string_view kKernel = R"(
@T.prim_func
def f(a: T.handle, b: T.handle, c: T.handle, d: T.handle, k: T.int32, x: T.float32):
    n = T.int32()
    A = T.match_buffer(a, (4, 6), "float16")
    B = T.match_buffer(b, (n, 4), "int32")
    C = T.match_buffer(c, (6, 4), "float32")
    D = T.match_buffer(d, (8,), "float8_e4m3fn")
    T.device_entry()
    tx = T.thread_id([32])
    C[0, 0] = T.cast(A[0, 0], "float32") + x
)";

const ir::Function& kernel() {
  static const script::Compiled compiled =
      script::compile(SourceText("kernel.py", std::string(kKernel)));
  return *compiled.function;
}

constexpr std::size_t kLongestText = 4000;

template <typename T>
std::string broken_result(const Result<T>& result, std::string_view text) {
  if (result) return "";
  const Diag& diag = result.error();
  if (diag.text.empty()) return "a refusal says nothing";
  if (diag.span.known && (diag.span.begin > diag.span.end || diag.span.end > text.size()))
    return "a refusal is not inside its text: " + diag.text;
  const std::string shown = render(diag, SourceText("fuzz", std::string(text)));
  if (shown.size() > kLongestText) return "an endless refusal: " + shown.substr(0, 80);
  return shown.empty() ? "no text" : "";
}

std::string broken_expectation(std::string_view text) {
  static const driver::Array a = *driver::make_array(num::DType::Float16, {4, 6}, "randint:-4,4,1");
  static const driver::Array b = *driver::make_array(num::DType::Int64, {6, 4}, "arange");
  static const driver::Array c = *driver::make_array(num::DType::Float32, {4, 4}, "ones");
  const std::string_view known[] = {"A", "B", "C"};
  const auto find = [](std::string_view name) -> const driver::Array* {
    if (name == "A" || name == "$0") return &a;
    if (name == "B" || name == "$1") return &b;
    return name == "C" || name == "$2" ? &c : nullptr;
  };
  return broken_result(driver::check_expectation(text, find, known), text);
}

std::string broken_array(std::string_view text) {
  const auto types = num::all_dtypes();
  for (const num::DType type : types)
    if (std::string broken = broken_result(driver::make_array(type, {2, 5}, text), text);
        !broken.empty())
      return broken;
  return "";
}

std::string broken_line(std::string_view key, std::string_view text) {
  layout::Names names;
  if (key == "expect") return broken_expectation(text);
  if (key == "array") return broken_array(text);
  if (key == "sim_arg") return broken_result(driver::parse_sim_arg(text), text);
  if (key == "sim_out") return broken_result(driver::parse_sim_out(text), text);
  if (key == "dims") return broken_result(driver::parse_dims(text), text);
  if (key == "limits") return broken_result(driver::parse_limits(text), text);
  if (key == "schedule") return broken_result(driver::parse_schedule(text), text);
  if (key == "trace") return broken_result(driver::parse_trace(text, {4, 2}, {64}), text);
  if (key == "break") return broken_result(driver::parse_break(text), text);
  if (key == "type") return broken_result(driver::parse_shaped_type(text), text);
  if (key == "axis") return broken_result(driver::declare_axis(text, names), text);
  if (key == "var") return broken_result(driver::declare_variable(text, names), text);
  return "";
}

}  // namespace

std::string arguments_law(std::string_view bytes) {
  driver::ArgRequest request;
  for (const auto& [key, value] : read_lines(bytes)) {
    std::string broken = broken_line(key, value);
    if (!broken.empty()) return broken;
    // What would be read from a file, and arrays that fill the memory, are other matters.
    const bool is_plain = value.find('/') == std::string_view::npos && !has_long_number(value, 5);
    if (key == "arg" && is_plain) request.args.emplace_back(value);
    if (key == "kernel_expect") request.expects.emplace_back(value);
  }
  std::string errors;
  const auto args = driver::read_kernel_args(kernel(), request, errors);
  if (args.has_value() != errors.empty()) return "arguments beside errors: " + errors;
  return "";
}

}  // namespace ww::fuzz
