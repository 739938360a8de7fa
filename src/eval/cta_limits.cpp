// SPDX-License-Identifier: Apache-2.0
// What a run may take. Instructions are counted as they are executed, so that a run ends at the
// same statement everywhere; time and memory are looked at now and then.
#include "eval/cta.h"

namespace ww::eval {
namespace {

constexpr std::uint64_t kWarp = 32;
constexpr std::uint64_t kElements = 128;   // that count as an instruction
constexpr std::uint64_t kProducts = 1024;  // the same for a matrix product
constexpr std::uint64_t kWatched = 2048;   // instructions and turns between two looks

constexpr std::string_view kMaybeEndless = "; a loop around it may have no end";

}  // namespace

bool Cta::spend(std::size_t threads) {
  run_.steps += threads;
  ++run_.watched;  // a turn takes time of its own, however few its threads
  return add_instructions((threads + kWarp - 1) / kWarp);
}

bool Cta::spend_elements(std::uint64_t elements) {
  return spend_products(elements * (kProducts / kElements));
}

bool Cta::spend_products(std::uint64_t products) {
  run_.products += products;
  const std::uint64_t count = run_.products / kProducts;
  run_.products %= kProducts;
  return count == 0 || add_instructions(count);
}

bool Cta::add_instructions(std::uint64_t count) {
  const std::uint64_t most = run_.options.limits.instructions;
  run_.instructions += count;
  run_.watched += count;
  if (run_.instructions > most) {
    stop_at("instructions=N",
            fmt::format("the limit of {} instructions is reached here{}", most, kMaybeEndless));
    return false;
  }
  if (run_.watched < kWatched) return true;
  run_.watched = 0;
  return watch();
}

bool Cta::watch() {
  const double seconds = run_.options.limits.seconds;
  if (seconds > 0 &&
      std::chrono::duration<double>(std::chrono::steady_clock::now() - run_.start).count() >
          seconds) {
    stop_at("seconds=S",
            fmt::format("the limit of {} seconds is reached here{}", seconds, kMaybeEndless));
    return false;
  }
  if (run_.options.keep_going && !run_.options.keep_going()) {
    stop(DiagKind::Budget, fmt::format("the evaluation was ended after {} steps", run_.steps));
    return false;
  }
  return watch_memory();
}

std::uint64_t Cta::own_bytes() const {
  std::uint64_t bytes =
      pending_ + vars_.size() * sizeof(vars_[0]) + copies_.capacity() * sizeof(copies_[0]);
  for (const Storage& storage : memory_) bytes += storage.host_bytes();
  for (const auto& [key, barrier] : barriers_) bytes += barrier.arrived.size() * sizeof(Thread);
  return bytes;
}

bool Cta::watch_memory() { return may_take(0); }

bool Cta::may_take(std::uint64_t bytes) {
  const std::uint64_t own = own_bytes();
  run_.held += own - held_;
  held_ = own;
  std::uint64_t all = run_.held + run_.printed.size() + bytes;
  for (const Storage& storage : run_.globals) all += storage.host_bytes();
  const std::uint64_t most = run_.options.limits.memory;
  if (all <= most) return true;
  const char* const what =
      pending_ > all / 2 ? ", most of it for asynchronous work that nobody has waited for"
      : run_.printed.size() > all / 2 ? ", most of it for what the kernel prints"
      : bytes > all / 2               ? ", most of it for the operands of this statement"
                                      : "";
  stop_at("memory=BYTES",
          fmt::format("the limit of {} bytes of memory is reached here{}", most, what));
  return false;
}

void Cta::stop_at(std::string_view limit, std::string text) {
  if (run_.stop) return;
  stop(DiagKind::Budget, std::move(text));
  run_.stop->notes.push_back({fmt::format("`--limit {}` raises it", limit), {}});
}

}  // namespace ww::eval
