// SPDX-License-Identifier: Apache-2.0
// Instructions are counted as they are executed, so that a run ends at the same statement
// everywhere; time and memory are looked at now and then.
#include "eval/cta/limits.h"

#include "eval/cta/report.h"

namespace ww::eval {
namespace {

constexpr std::uint64_t kInstructionElements = 128;   // that count as an instruction
constexpr std::uint64_t kInstructionProducts = 1024;  // the same for a matrix product
constexpr std::uint64_t kWatchEvery = 2048;           // instructions and turns between two looks

constexpr std::string_view kMaybeEndless = "; a loop around it may have no end";

void stop_at(Cta& cta, std::string_view limit, std::string text) {
  if (cta.run.stop) return;
  stop(cta, DiagKind::Budget, std::move(text));
  cta.run.stop->notes.push_back({fmt::format("`--limit {}` raises it", limit), {}});
}

bool watch(Cta& cta) {
  const double seconds = cta.run.options.limits.seconds;
  if (seconds > 0 &&
      std::chrono::duration<double>(std::chrono::steady_clock::now() - cta.run.start).count() >
          seconds) {
    stop_at(cta, "seconds=S",
            fmt::format("the limit of {} seconds is reached here{}", seconds, kMaybeEndless));
    return false;
  }
  if (cta.run.options.keep_going && !cta.run.options.keep_going()) {
    stop(cta, DiagKind::Budget,
         fmt::format("the evaluation was ended after {} steps", cta.run.steps));
    return false;
  }
  return may_take(cta, 0);
}

bool add_instructions(Cta& cta, std::uint64_t count) {
  const std::uint64_t most = cta.run.options.limits.instructions;
  cta.run.instructions += count;
  cta.run.watched += count;
  if (cta.run.instructions > most) {
    stop_at(cta, "instructions=N",
            fmt::format("the limit of {} instructions is reached here{}", most, kMaybeEndless));
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

bool spend(Cta& cta, std::size_t threads) {
  cta.run.steps += threads;
  ++cta.run.watched;  // a turn takes time of its own, however few its threads
  return add_instructions(cta, (threads + kWarp - 1) / kWarp);
}

bool spend_elements(Cta& cta, std::uint64_t elements) {
  return spend_products(cta, elements * (kInstructionProducts / kInstructionElements));
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
