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

/// A context that stays as it is.
struct BackgroundProofs::ContextCopy {
  explicit ContextCopy(const Context& c)
      : f(c.f),
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
    const Proof proof = prove_written(call, each.code, each.read);
    return verdict_of(proof, call, *each.variant, each.text);
  }

  ir::Function f;
  ir::LaunchShape launch;
  LaunchVars ids;
  ir::Facts facts;
  ir::Definitions definitions;
  ir::ThreadValues values;
  Context context;
};

/// Code to prove, each by the thread that comes to it first.
struct BackgroundProofs::Batch {
  struct Finding {
    std::optional<Diag> error = {};
    std::exception_ptr thrown = {};
  };
  explicit Batch(std::vector<WrittenCode> code) : codes(std::move(code)), found(codes.size()) {}

  void prove_in(ContextCopy& context, const std::stop_token& stop) {
    for (std::size_t i = next++; i < codes.size() && !stop.stop_requested(); i = next++) {
      try {
        stop_if_cancelled();
        found[i].error = context.prove(codes[i]);
      } catch (...) {
        found[i].thrown = std::current_exception();
      }
    }
  }

  std::vector<WrittenCode> codes;
  std::vector<Finding> found;  // by code
  std::atomic<std::size_t> next = 0;
};

WrittenCode written_code(const Variant& variant, const Call& call, std::string text, ir::Block code,
                         std::optional<EarlierRead> read) {
  return {.variant = &variant,
          .text = std::move(text),
          .code = std::move(code),
          .tile = call.tile,
          .span = call.span,
          .active = call.active,
          .workspace = call.workspace,
          .is_in_loop = call.is_in_loop,
          .read = std::move(read)};
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
  };
  enqueue({read, true});
}

void BackgroundProofs::add(const Context& context, WrittenCode written) {
  elements_ += elements_of(context.f, written.tile);
  waiting_.push_back(std::move(written));
  if (elements_ < kMinForCopy) return;
  {
    const std::lock_guard lock(mutex_);
    if (busy_ > 0 || !queue_.empty()) return;
  }
  hand_over(context);
}

void BackgroundProofs::close(const Context& context) {
  if (waiting_.empty()) return;
  if (batches_.empty() && elements_ < kMinForThread) {
    ContextCopy copy(context);
    take_waiting()->prove_in(copy, {});
    return;
  }
  if (elements_ >= kMinForCopy) spare_ = std::make_unique<ContextCopy>(context);
  hand_over(context);
}

std::shared_ptr<BackgroundProofs::Batch> BackgroundProofs::take_waiting() {
  elements_ = 0;
  return batches_.emplace_back(std::make_shared<Batch>(std::exchange(waiting_, {})));
}

void BackgroundProofs::hand_over(const Context& context) {
  const auto copy = std::make_shared<ContextCopy>(context);
  enqueue({[batch = take_waiting(), copy](const std::stop_token& stop) {
    batch->prove_in(*copy, stop);
  }});
}

void BackgroundProofs::check(const ir::Function& lowered, const target::Target& target) {
  if (!thread_.joinable()) return check_lowered(lowered, target);
  enqueue({[this, &lowered, target](const std::stop_token&) {
    try {
      check_lowered(lowered, target);
    } catch (...) {
      broken_ = std::current_exception();
    }
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
  while (changed_.wait(lock, stop, [&] { return !queue_.empty(); })) run_next(lock, stop);
}

void BackgroundProofs::run_next(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
  const Task task = std::move(queue_.front());
  queue_.pop_front();
  busy_ += task.gives_way ? 0 : 1;
  lock.unlock();
  task.run(stop);
  lock.lock();
  busy_ -= task.gives_way ? 0 : 1;
  changed_.notify_all();
}

std::vector<Diag> BackgroundProofs::settle() {
  std::unique_lock lock(mutex_);
  std::erase_if(queue_, [](const Task& task) { return task.gives_way; });
  while (!queue_.empty()) run_next(lock, {});
  lock.unlock();
  if (spare_) batches_.back()->prove_in(*spare_, {});
  spare_.reset();
  lock.lock();
  changed_.wait(lock, [&] { return busy_ == 0; });
  std::vector<Diag> errors;
  for (const auto& batch : std::exchange(batches_, {}))
    for (Batch::Finding& found : batch->found) {
      if (found.thrown) std::rethrow_exception(found.thrown);
      if (found.error) errors.push_back(*std::move(found.error));
    }
  if (broken_) std::rethrow_exception(std::exchange(broken_, nullptr));
  return errors;
}

}  // namespace ww::lower
