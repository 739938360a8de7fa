// SPDX-License-Identifier: Apache-2.0
// Instructions are counted as they are executed, so that a run ends at the same statement
// everywhere; time and memory are looked at now and then.
#include "eval/cta/limits.h"

#include <numeric>
#include <optional>
#include <span>

#include "eval/cta/report.h"

namespace ww::eval {
namespace {

constexpr std::uint64_t kInstructionElements = 16;    // that count as an instruction
constexpr std::uint64_t kInstructionProducts = 1024;  // the same for a matrix product
constexpr std::uint64_t kWatchEvery = 2048;           // instructions and turns between two looks

/// Steps [begin, end) that took most of a run's instructions.
struct Share {
  std::uint32_t begin = 0, end = 0;
  std::uint64_t instructions = 0;
};

// The innermost loop that took more than half; where none did, the step that took most.
Share largest_share(const Run& run) {
  const std::span<const std::uint64_t> used = run.used;
  const std::span<const Step> steps = run.launch.steps.steps;
  const auto total = std::accumulate(used.begin(), used.end(), std::uint64_t{0});
  std::optional<Share> loop;
  Share step;
  for (std::uint32_t s = 0; s < steps.size(); ++s) {
    if (used[s] > step.instructions) step = {s, s + 1, used[s]};
    if (steps[s].kind != StepKind::LoopTest && steps[s].kind != StepKind::While) continue;
    const auto inside = used.subspan(s, steps[s].target - s);
    const auto sum = std::accumulate(inside.begin(), inside.end(), std::uint64_t{0});
    if (sum > total / 2) loop = Share{s, steps[s].target, sum};  // a later one is further inside
  }
  return loop.value_or(step);
}

void stop_at(Cta& cta, std::string_view limit, std::string text) {
  if (cta.run.stop) return;
  stop(cta, DiagKind::RunLimit, std::move(text));
  const Share share = largest_share(cta.run);
  if (share.instructions != 0)
    cta.run.stop->notes.push_back(
        {fmt::format("{} of {} instructions so far were spent in this {}", share.instructions,
                     cta.run.instructions, share.end - share.begin > 1 ? "loop" : "statement"),
         span_of(cta, share.begin)});
  cta.run.stop->notes.push_back({fmt::format("`--limit {}` raises it", limit), {}});
}

bool watch(Cta& cta) {
  const double seconds = cta.run.options.limits.seconds;
  if (seconds > 0 &&
      std::chrono::duration<double>(std::chrono::steady_clock::now() - cta.run.start).count() >
          seconds) {
    stop_at(cta, "seconds=S", fmt::format("the limit of {} seconds is reached here", seconds));
    return false;
  }
  if (cta.run.options.keep_going && !cta.run.options.keep_going()) {
    stop(cta, DiagKind::RunLimit,
         fmt::format("the evaluation was ended after {} steps", cta.run.steps));
    return false;
  }
  return may_take(cta, 0);
}

bool add_instructions(Cta& cta, std::uint64_t count) {
  const std::uint64_t most = cta.run.options.limits.instructions;
  cta.run.instructions += count;
  cta.run.used[cta.step] += count;
  cta.run.watched += count;
  if (cta.run.instructions > most) {
    stop_at(cta, "instructions=N",
            fmt::format("the limit of {} instructions is reached here", most));
    return false;
  }
  if (cta.run.watched < kWatchEvery) return true;
  cta.run.watched = 0;
  return watch(cta);
}

std::uint64_t own_bytes(const Cta& cta) {
  std::uint64_t bytes = cta.async.bytes + cta.vars.values.size() * sizeof(cta.vars.values[0]) +
                        cta.async.in_flight.capacity() * sizeof(cta.async.in_flight[0]);
  for (const Storage& storage : cta.memory) bytes += storage.host_bytes();
  for (const auto& [key, barrier] : cta.barriers) bytes += barrier.arrived.size() * sizeof(Thread);
  return bytes;
}

}  // namespace

bool spend_step(Cta& cta, std::size_t threads) {
  cta.run.steps += threads;
  ++cta.run.watched;  // a turn takes time of its own, however few its threads
  const std::uint64_t operations = cta.launch.steps[cta.step].operations;
  return add_instructions(cta, (threads + kWarp - 1) / kWarp * operations);
}

bool spend_elements(Cta& cta, std::uint64_t elements) {
  return add_instructions(cta, (elements + kInstructionElements - 1) / kInstructionElements);
}

bool spend_products(Cta& cta, std::uint64_t products) {
  cta.run.products += products;
  const std::uint64_t count = cta.run.products / kInstructionProducts;
  cta.run.products %= kInstructionProducts;
  return count == 0 || add_instructions(cta, count);
}

bool may_take(Cta& cta, std::uint64_t bytes) {
  const std::uint64_t own = own_bytes(cta);
  cta.run.held += own - cta.held;
  cta.held = own;
  std::uint64_t all = cta.run.held + cta.run.printed.size() + bytes;
  for (const Storage& storage : cta.run.globals) all += storage.host_bytes();
  const std::uint64_t most = cta.run.options.limits.memory;
  if (all <= most) return true;
  const char* const what =
      cta.async.bytes > all / 2          ? ", most of it for asynchronous work without a wait"
      : cta.run.printed.size() > all / 2 ? ", most of it for what the kernel prints"
      : bytes > all / 2                  ? ", most of it for the operands of this statement"
                                         : "";
  stop_at(cta, "memory=BYTES",
          fmt::format("the limit of {} bytes of memory is reached here{}", most, what));
  return false;
}

}  // namespace ww::eval
