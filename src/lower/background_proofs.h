// SPDX-License-Identifier: Apache-2.0
// Proofs on a thread of their own, beside dispatch and the passes that follow it: a proof changes
// nothing, and most often it holds. They work on copies of the function, made while the thread is idle,
// so that lowering may change its own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
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
};
WrittenCode written_code(const Variant& variant, const Call& call, std::string text,
                         ir::Block code);

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

  /// Takes code to be proven, at once or later. The code must stay as it is until `close`.
  void add(const Context& context, WrittenCode written);
  /// All code is there; from here on the context may change. Where there is too little to prove for a
  /// thread, this proves it.
  void close(const Context& context);
  /// Waits for the proofs. Errors in the order of the calls; throws what a proof has thrown.
  std::vector<Diag> settle();

 private:
  struct Batch;
  struct Findings {
    std::vector<Diag> errors = {};
    std::exception_ptr thrown = {};
  };
  void hand_over(const Context& context);
  void work(const std::stop_token& stop);
  static Findings prove_all(Batch& batch, const std::stop_token& stop);
  void take(Findings more);

  std::vector<WrittenCode> waiting_;
  std::int64_t elements_ = 0;  // of what waits
  std::mutex mutex_;           // of what follows
  std::condition_variable_any changed_;
  std::deque<std::unique_ptr<Batch>> queue_;
  bool is_busy_ = false;
  Findings found_;
  std::jthread thread_;  // the last, so that it ends first
};

}  // namespace ww::lower
