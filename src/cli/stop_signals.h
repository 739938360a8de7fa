// SPDX-License-Identifier: Apache-2.0
// Signals that ask a command to end which works until then: Ctrl-C, `kill`, the end of the terminal.
#pragma once

#include <functional>
#include <thread>

namespace ww::cli {

/// While one exists, the first SIGINT, SIGTERM or SIGHUP calls `stop` on a thread of its own; the
/// next one ends the process as it did before. A signal that is ignored stays ignored (`nohup`).
/// There is one at a time.
class StopSignals {
 public:
  explicit StopSignals(std::function<void()> stop);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  void restore();

  std::function<void()> stop_;
  std::thread thread_;
};

}  // namespace ww::cli
