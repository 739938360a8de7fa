// SPDX-License-Identifier: Apache-2.0
// Kernel expressions: `--kernel`, and what `warpwright tune` chooses from. Lines: kernel, space,
// where.
#include <string>

#include "driver/tune/space.h"
#include "hostile/script/compile_law.h"
#include "hostile/targets.h"
#include "script/interp/host_expr.h"

namespace ww::fuzz {
namespace {

constexpr std::string_view kProgram = R"(
def build(n=32, dtype="float32", wide=False, *, shape=(2, 16)):
    @T.prim_func
    def inner(a: T.handle):
        A = T.match_buffer(a, shape, dtype)
        T.device_entry()
        tx = T.thread_id([n])
        A[0, tx] = T.cast(1, dtype)
    return inner
)";

// As many combinations as that are a real request for time.
constexpr std::size_t kMaxSpaces = 2;

std::string broken_kernel(std::string_view text) {
  if (const auto syntax = script::check_kernel_syntax(text); !syntax && syntax.error().text.empty())
    return "a refusal says nothing";
  if (const auto value = script::check_host_syntax(text); !value && value.error().text.empty())
    return "a refusal says nothing";
  script::Options options;
  options.kernel = std::string(text);
  options.max_steps = 20'000;
  return script::broken_law(kProgram, options);
}

}  // namespace

std::string kernel_law(std::string_view bytes) {
  driver::SpaceRequest request;
  for (const auto& [key, value] : read_lines(bytes)) {
    if (key == "kernel") request.kernel = std::string(value);
    if (key == "space" && request.spaces.size() < kMaxSpaces) request.spaces.emplace_back(value);
    if (key == "where" && request.wheres.empty()) request.wheres.emplace_back(value);
  }
  std::string broken = broken_kernel(request.kernel);
  if (!broken.empty()) return broken;
  std::string errors;
  const auto space = driver::TuneSpace::read(request, errors);
  if (space.has_value() != errors.empty()) return "a space beside errors: " + errors;
  if (!space) return "";
  for (const driver::Combination& choice : space->combinations())
    if (space->kernel(choice).empty()) return "a combination without a kernel";
  return "";
}

}  // namespace ww::fuzz
