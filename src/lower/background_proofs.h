// SPDX-License-Identifier: Apache-2.0
// Proofs on a thread of their own, beside dispatch and what follows it: a proof changes nothing, and
// most often it holds. They work on copies of the function, made while the thread is idle, so that
// lowering may change its own. The thread that waits for them helps.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/diag.h"
#include "lower/call.h"
#include "lower/proof/proof.h"
#include "lower/variant.h"

namespace ww::lower {

/// What a variant has written for a call, and what the proof of it needs to know of the call.
struct WrittenCode {
  const Variant* variant;
  std::string text;  // of the call
  ir::Block code;
  ir::TileCall tile;
  Span span;
  ir::ActiveSet active;
  std::optional<ScratchBuffer> workspace;
  bool is_in_loop;
  std::optional<EarlierRead> read;  // of what it writes
};
WrittenCode written_code(const Variant& variant, const Call& call, std::string text, ir::Block code,
                         std::optional<EarlierRead> read = {});

/// The error for code that could not be proven; none for code that was. Code that is wrong is a bug of
/// the variant and throws.
std::optional<Diag> verdict_of(const Proof& proof, const Call& call, const Variant& variant,
                               const std::string& text);

class BackgroundProofs {
 public:
  BackgroundProofs();
  /// Waits for the proof that is being carried out; what is left after it is left out.
  ~BackgroundProofs();
  BackgroundProofs(const BackgroundProofs&) = delete;
  BackgroundProofs& operator=(const BackgroundProofs&) = delete;

  /// Before a program is lowered: where its calls will need a thread, that reads the table of
  /// instructions now, if no compilation of this process has, for matching and emission to ask.
  void expect(const ir::Function& tile);
  /// Takes code to be proven, at once or later. The code must stay as it is until `close`.
  void add(const Context& context, WrittenCode written);
  /// All code is there; from here on the context may change. Where there is too little to prove for a
  /// thread, this proves it.
  void close(const Context& context);
  /// Checks what lowering has written (lower/lower.h), which must stay as it is until `settle`; at
  /// once where nothing needed a thread.
  void check(const ir::Function& lowered, const target::Target& target);
  /// Does what is left of it, and waits for what the thread is doing. Errors in the order of the calls;
  /// throws what a proof has thrown.
  std::vector<Diag> settle();

 private:
  struct ContextCopy;
  struct Batch;
  struct Task {
    std::function<void(const std::stop_token&)> run;
    bool gives_way = false;  // ends when there is another
  };
  std::shared_ptr<Batch> take_waiting();
  void hand_over(const Context& context);
  void enqueue(Task task);
  void work(const std::stop_token& stop);
  void run_next(std::unique_lock<std::mutex>& lock, const std::stop_token& stop);

  std::vector<WrittenCode> waiting_;
  std::int64_t elements_ = 0;                    // of what waits
  std::vector<std::shared_ptr<Batch>> batches_;  // that were handed over
  std::unique_ptr<ContextCopy> spare_;           // for the last of them, to help with it
  std::exception_ptr broken_;                    // what `check` has thrown
  std::mutex mutex_;                             // of what follows
  std::condition_variable_any changed_;
  std::deque<Task> queue_;
  int busy_ = 0;         // tasks that are carried out
  std::jthread thread_;  // the last, so that it ends first
};

}  // namespace ww::lower
