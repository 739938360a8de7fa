// SPDX-License-Identifier: Apache-2.0
#include "torch_rows.h"

#include <fmt/format.h>

#include "../kernels/rivals.h"

namespace ww::bench::rows {
namespace {

constexpr Who kOfRows[] = {
    {"triton", "Triton"}, {"torch", "PyTorch"}, {"compiled", "torch.compile"}};
constexpr Who kOfAttention[] = {{"flash", "PyTorch flash"}, {"cudnn", "cuDNN"}};

}  // namespace

std::span<const Who> rivals_of(const RowProblem& problem) {
  if (problem.is_attention()) return kOfAttention;
  return kOfRows;
}

std::string torch_question(const RowProblem& problem) {
  const auto [m, n, dim, heads] = std::tuple(problem.m, problem.n, problem.dim, problem.heads());
  const std::string sizes = problem.is_attention() ? fmt::format("{} {} {} {} {:d}", problem.batch,
                                                                 m, heads, dim, problem.causal)
                            : problem.job == Job::Rope ? fmt::format("{} {} {}", m, heads, dim)
                                                       : fmt::format("{} {}", m, n);
  return fmt::format("prepare {} {} {}", name_of(problem.job), num::name_of(problem.dtype), sizes);
}

Result<TorchRows> TorchRows::start(const std::string& python, const std::string& script) {
  Child child = WW_TRY(Child::start({python, script}));
  std::string versions = WW_TRY(answer_of(child, "hello"));
  return TorchRows(std::move(child), std::move(versions));
}

Result<void> TorchRows::prepare(const RowProblem& problem) {
  WW_TRY(answer_of(child_, torch_question(problem)));
  return {};
}

Result<std::string> TorchRows::ready(std::string_view who) {
  return answer_of(child_, fmt::format("ready {}", who));
}

Result<double> TorchRows::time(std::string_view who, int launches) {
  return seconds_of(WW_TRY(answer_of(child_, fmt::format("run {} {}", who, launches))));
}

}  // namespace ww::bench::rows
