// SPDX-License-Identifier: Apache-2.0
#include "lower/background_proofs.h"

#include <atomic>
#include <utility>

#include "base/cancel.h"
#include "isa/catalogue.h"
#include "lower/lower.h"
#include "lower/lowered_op.h"

namespace ww::lower {
namespace {

// Elements whose proof is worth a thread, and another copy of the function.
constexpr std::int64_t kMinForThread = 1 << 13;
constexpr std::int64_t kMinForCopy = 1 << 14;

std::int64_t elements_of(const ir::Function& f, const ir::TileCall& tile) {
  std::int64_t all = 0;
  for (const ir::TileArg& arg : tile.args)
    if (const auto* region = std::get_if<ir::Region>(&arg)) {
      std::int64_t count = 1;
      for (const ir::RangeExpr& range : region->ranges)
        count *= ir::const_int(f, range.extent).value_or(1);
      all += count;
    }
  return all;
}

}  // namespace

/// Code to prove, in a context that stays as it is.
struct BackgroundProofs::Batch {
  Batch(const Context& c, std::vector<WrittenCode> code)
      : written(std::move(code)),
        f(c.f),
        launch(c.launch),
        ids(c.ids),
        facts(c.facts),
        definitions(c.values.definitions()),
        values(f, launch, definitions),
        context{f, launch, ids, facts, values, c.target, c.scratch} {
    context.turns = c.turns;
  }

  std::optional<Diag> prove(const WrittenCode& each) {
    Call call{context, each.tile, each.span, each.active};
    call.workspace = each.workspace;
    call.is_in_loop = each.is_in_loop;
    const Proof proof = find_lowered_op(each.tile.op)->prove(call, each.code);
    return verdict_of(proof, call, *each.variant, each.text);
  }

  std::vector<WrittenCode> written;
  ir::Function f;
  ir::LaunchShape launch;
  LaunchVars ids;
  ir::Facts facts;
  ir::Definitions definitions;
  ir::ThreadValues values;
  Context context;
};

WrittenCode written_code(const Variant& variant, const Call& call, std::string text,
                         ir::Block code) {
  return {.variant = &variant,
          .text = std::move(text),
          .code = std::move(code),
          .tile = call.tile,
          .span = call.span,
          .active = call.active,
          .workspace = call.workspace,
          .is_in_loop = call.is_in_loop};
}

std::optional<Diag> verdict_of(const Proof& proof, const Call& call, const Variant& variant,
                               const std::string& text) {
  WW_CHECK(proof.difference.empty(), "`{}` of `{}` is wrong: {}", variant.name, text,
           proof.difference);
  if (proof.could_not.empty()) return std::nullopt;
  return diag(DiagKind::NotLowered, "`{}` could not be proven: {}", ir::name_of(call.tile.op),
              proof.could_not)
      .with_span(call.span);
}

BackgroundProofs::BackgroundProofs() = default;
BackgroundProofs::~BackgroundProofs() = default;

void BackgroundProofs::expect(const ir::Function& tile) {
  std::int64_t elements = 0;
  for (const ir::TileCall& call : tile.tile_calls) elements += elements_of(tile, call);
  static std::atomic_flag is_read;
  if (elements < kMinForThread || is_read.test_and_set()) return;
  const auto read = [this](const std::stop_token& stop) {
    isa::read_ahead([&] {
      const std::lock_guard lock(mutex_);
      return queue_.empty() && !stop.stop_requested();
    });
    return Findings{};
  };
  enqueue({read, true});
}

void BackgroundProofs::add(const Context& context, WrittenCode written) {
  elements_ += elements_of(context.f, written.tile);
  waiting_.push_back(std::move(written));
  if (elements_ < kMinForCopy) return;
  {
    const std::lock_guard lock(mutex_);
    if (is_busy_ || !queue_.empty()) return;
  }
  hand_over(context);
}

void BackgroundProofs::close(const Context& context) {
  if (waiting_.empty()) return;
  if (has_thread_ || elements_ >= kMinForThread) return hand_over(context);
  Batch batch(context, std::exchange(waiting_, {}));
  take(prove_all(batch, {}));
}

void BackgroundProofs::hand_over(const Context& context) {
  const auto batch = std::make_shared<Batch>(context, std::exchange(waiting_, {}));
  elements_ = 0;
  has_thread_ = true;
  enqueue({[batch](const std::stop_token& stop) { return prove_all(*batch, stop); }});
}

void BackgroundProofs::check(const ir::Function& lowered, const target::Target& target) {
  if (!has_thread_) return check_lowered(lowered, target);
  enqueue({[&lowered, target](const std::stop_token&) {
    Findings found;
    try {
      check_lowered(lowered, target);
    } catch (...) {
      found.thrown = std::current_exception();
    }
    return found;
  }});
}

void BackgroundProofs::enqueue(Task task) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(task));
  }
  changed_.notify_all();
  if (thread_.joinable()) return;
  thread_ = std::jthread([this, flag = detail::cancel_flag](const std::stop_token& stop) {
    std::optional<CancelScope> scope;
    if (flag != nullptr) scope.emplace(*flag);
    work(stop);
  });
}

void BackgroundProofs::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return !queue_.empty(); })) {
    const Task task = std::move(queue_.front());
    queue_.pop_front();
    is_busy_ = !task.gives_way;
    lock.unlock();
    Findings found = task.run(stop);
    lock.lock();
    take(std::move(found));
    is_busy_ = false;
    changed_.notify_all();
  }
}

BackgroundProofs::Findings BackgroundProofs::prove_all(Batch& batch, const std::stop_token& stop) {
  Findings found;
  try {
    for (const WrittenCode& each : batch.written) {
      stop_if_cancelled();
      if (stop.stop_requested()) break;
      if (auto error = batch.prove(each)) found.errors.push_back(*std::move(error));
    }
  } catch (...) {
    found.thrown = std::current_exception();
  }
  return found;
}

void BackgroundProofs::take(Findings more) {
  for (Diag& error : more.errors) found_.errors.push_back(std::move(error));
  if (!found_.thrown) found_.thrown = more.thrown;
}

std::vector<Diag> BackgroundProofs::settle() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return queue_.empty() && !is_busy_; });
  if (found_.thrown) std::rethrow_exception(std::exchange(found_.thrown, nullptr));
  return std::exchange(found_.errors, {});
}

}  // namespace ww::lower
