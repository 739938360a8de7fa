// SPDX-License-Identifier: Apache-2.0
#include "soak/workers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>
#include <vector>

#include "base/check.h"
#include "harness/assembly.h"
#include "harness/cuda_batch.h"

namespace ww::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBatch = 12;           // kernels of one call of nvcc
constexpr std::uint64_t kShrunkPerKind = 1;  // finds of one kind that are worth the time
constexpr auto kProgress = std::chrono::seconds(10);
constexpr int kGpuIsGone = 77;          // status of a process that left for that
constexpr int kMaxFaults = 3;           // of the GPU, then no process is started any more
constexpr double kShrinkPatience = 10;  // times that of one program

// --- in a worker ---------------------------------------------------------------------------------
//
// What it tells, one message per line: `begin NUMBER`, `count N NAME`, `find NUMBER KIND`,
// `shrink NUMBER`.

class Worker {
 public:
  Worker(const SoakPlan& plan, Clock::time_point end, int to) : plan_(plan), end_(end), to_(to) {}

  void run(std::uint64_t first) {
    for (std::uint64_t number = first; goes_on(number); number += plan_.jobs) {
      tell(fmt::format("begin {}", number));
      const Choices choices = whole_choices(plan_.seed, number, plan_.only);
      const Examined examined = examine(choices);
      tell(examined.tally);
      if (examined.is_find) report(number, choices, examined);
      if (examined.checked.right()) take_for_tools(number, examined.checked);
    }
    run_tools();
  }

 private:
  [[nodiscard]] bool goes_on(std::uint64_t number) const {
    if (plan_.programs > 0 && number >= plan_.programs) return false;
    return plan_.seconds == 0 || Clock::now() < end_;
  }

  void tell(const std::string& message) {
    const std::string line = message + "\n";
    if (::write(to_, line.data(), line.size()) < 0) std::_Exit(1);
  }
  void tell(const Tally& tally) {
    for (const auto& [name, count] : tally) tell(fmt::format("count {} {}", count, name));
  }

  static std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

  void write_file(std::uint64_t number, const std::string& text) {
    std::filesystem::create_directories(plan_.finds);
    std::ofstream(plan_.finds / fmt::format("{}_{}.py", plan_.seed, number)) << text;
  }
  [[nodiscard]] std::string repeat(std::uint64_t number) const {
    return fmt::format("soak --seed {} --number {}{}", plan_.seed, number,
                       plan_.only ? fmt::format(" --only {}", name_of(*plan_.only)) : "");
  }

  void report(std::uint64_t number, const Choices& choices, const Examined& found) {
    const bool is_worth_it = plan_.shrinks && seen_[found.kind]++ < kShrunkPerKind;
    write_file(number, file_of(choices, found, repeat(number)));
    tell(fmt::format("find {} {}", number, first_line(found.kind)));
    if (found.checked.stage == Stage::Gpu && !is_gpu_well()) std::_Exit(kGpuIsGone);
    if (!is_worth_it) return;
    tell(fmt::format("shrink {}", number));
    const Choices smaller = shrunk(choices, found);
    write_file(number, file_of(smaller, examine(smaller), repeat(number)));
  }

  // --- nvcc and ptxas, which take their time: for many programs at once ---

  void take_for_tools(std::uint64_t number, const Checked& checked) {
    if (plan_.cuda_share == 0 || right_++ % plan_.cuda_share != 0) return;
    waiting_.emplace_back(number, checked);
    if (waiting_.size() == kBatch) run_tools();
  }

  void run_tools() {
    CudaBatch batch;
    Assembly assembly;
    for (const auto& [number, checked] : waiting_) {
      batch.add(checked);
      assembly.add(checked.ran->target, checked.ptx);
    }
    std::string skipped;
    if (!batch.run(skipped).empty()) find_one("CUDA C++");
    if (skipped.empty()) tell_calls("engine: virtual GPU, CUDA C++ through nvcc", "nvcc");
    std::string not_assembled;
    if (!assembly.assemble(not_assembled).empty()) find_one("ptxas");
    if (not_assembled.empty()) tell_calls("engine: ptxas, assembled", "ptxas");
    waiting_.clear();
  }
  void tell_calls(const std::string& engine, const std::string& column) {
    Tally tally;
    tally[engine] = waiting_.size();
    for (const auto& [number, checked] : waiting_) count_calls(checked, column, tally);
    tell(tally);
  }
  void find_one(const std::string& tool) {
    for (const auto& [number, checked] : waiting_) {
      CudaBatch batch;
      Assembly assembly;
      batch.add(checked);
      assembly.add(checked.ran->target, checked.ptx);
      std::string skipped;
      const std::string why = tool == "ptxas" ? assembly.assemble(skipped) : batch.run(skipped);
      if (why.empty()) continue;
      write_file(number,
                 fmt::format("# {}\n# {}\n{}", repeat(number), first_line(why), checked.source));
      std::ofstream(plan_.finds / fmt::format("{}_{}.txt", plan_.seed, number)) << why;
      tell(fmt::format("find {} {}: {}", number, tool, first_line(why)));
    }
  }

  const SoakPlan& plan_;
  Clock::time_point end_;
  int to_;
  std::uint64_t right_ = 0;
  std::map<std::string, std::uint64_t> seen_;
  std::vector<std::pair<std::uint64_t, Checked>> waiting_;
};

// --- what watches over them ----------------------------------------------------------------------

struct Running {
  pid_t process = -1;
  int from = -1;
  std::uint64_t current = 0;
  bool has_begun = false, is_shrinking = false, is_late = false;
  Clock::time_point heard = Clock::now();  // from it
  std::string partial;                     // a line that is not complete
};

class Watcher {
 public:
  explicit Watcher(const SoakPlan& plan)
      : plan_(plan),
        start_(Clock::now()),
        end_(start_ + std::chrono::milliseconds(static_cast<std::int64_t>(plan.seconds * 1000))) {}

  SoakResult run() {
    std::fflush(nullptr);
    for (unsigned w = 0; w < plan_.jobs; ++w) running_.push_back(start(w));
    auto next = start_ + kProgress;
    while (!running_.empty()) {
      listen();
      end_late();
      if (plan_.shows_progress && Clock::now() >= next) {
        print_progress();
        next = Clock::now() + kProgress;
      }
    }
    return std::move(out_);
  }

 private:
  Running start(std::uint64_t first) {
    int ends[2] = {-1, -1};
    WW_CHECK(::pipe2(ends, O_CLOEXEC) == 0, "no pipe");
    const pid_t process = ::fork();
    WW_CHECK(process >= 0, "no process");
    if (process == 0) {
      ::close(ends[0]);
      Worker(plan_, end_, ends[1]).run(first);
      std::fflush(nullptr);
      std::_Exit(0);
    }
    ::close(ends[1]);
    Running out;
    out.process = process;
    out.from = ends[0];
    out.current = first;
    return out;
  }

  void listen() {
    std::vector<pollfd> polled;
    for (const Running& each : running_) polled.push_back({each.from, POLLIN, 0});
    constexpr int kMilliseconds = 500;
    ::poll(polled.data(), polled.size(), kMilliseconds);
    for (std::size_t i = polled.size(); i-- > 0;)
      if (polled[i].revents != 0 && !take(running_[i])) end(i);
  }

  // Whoever has not said anything for too long will not.
  void end_late() {
    for (Running& each : running_) {
      const double most = plan_.patience * (each.is_shrinking ? kShrinkPatience : 1);
      const std::chrono::duration<double> silent = Clock::now() - each.heard;
      if (each.is_late || silent.count() < most) continue;
      each.is_late = true;
      ::kill(each.process, SIGKILL);
    }
  }

  // False when there is nothing more to come.
  bool take(Running& from) {
    char text[4096];
    const ssize_t count = ::read(from.from, text, sizeof text);
    if (count <= 0) return false;
    from.partial.append(text, static_cast<std::size_t>(count));
    for (std::size_t end = from.partial.find('\n'); end != std::string::npos;
         end = from.partial.find('\n')) {
      message(from, from.partial.substr(0, end));
      from.partial.erase(0, end + 1);
    }
    return true;
  }

  void message(Running& from, const std::string& text) {
    const std::size_t space = text.find(' ');
    const std::string verb = text.substr(0, space);
    char* rest = nullptr;
    const std::uint64_t value = std::strtoull(text.c_str() + space + 1, &rest, 10);
    from.heard = Clock::now();
    from.is_shrinking = verb == "shrink";
    if (from.is_shrinking) return;
    if (verb == "begin") {
      from.current = value;
      from.has_begun = true;
    } else if (verb == "count") {
      out_.tally[rest + 1] += value;
    } else {
      found(value, rest + 1);
    }
  }

  void found(std::uint64_t number, const std::string& kind) {
    ++out_.finds;
    ++out_.tally["find: " + kind];
    fmt::print("find in program {} of seed {}: {}\n", number, plan_.seed, kind);
    std::fflush(stdout);
  }

  void end(std::size_t i) {
    Running gone = std::move(running_[i]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    ::close(gone.from);
    int status = 0;
    ::waitpid(gone.process, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    if (WIFEXITED(status) && WEXITSTATUS(status) == kGpuIsGone)
      give_up_gpu(gone.current);
    else if (!gone.is_shrinking)
      find_end(gone, status);
    if (gone.has_begun && faults_ < kMaxFaults)
      running_.push_back(start(gone.current + plan_.jobs));
  }

  // The find is told already.
  void give_up_gpu(std::uint64_t number) {
    ++out_.tally["GPU: faults, each the end of a process"];
    fmt::print("the GPU runs nothing more for the process of program {} of seed {}{}\n", number,
               plan_.seed, ++faults_ < kMaxFaults ? "" : "; no other is started");
    std::fflush(stdout);
  }
  void find_end(const Running& gone, int status) {
    std::filesystem::create_directories(plan_.finds);
    std::ofstream(plan_.finds / fmt::format("{}_{}.py", plan_.seed, gone.current))
        << whole_program(whole_choices(plan_.seed, gone.current, plan_.only)).program.source;
    found(gone.current, gone.is_late ? fmt::format("no answer for {} s", plan_.patience)
                        : WIFSIGNALED(status)
                            ? fmt::format("the process died of signal {}", WTERMSIG(status))
                            : fmt::format("the process ended with {}", WEXITSTATUS(status)));
  }

  void print_progress() const {
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - start_).count();
    std::map<std::string, std::uint64_t> groups;
    for (const auto& [name, count] : out_.tally)
      groups[name.substr(0, name.find_first_of(":,"))] += count;
    fmt::print("{:>5} s  {} programs, {} primitives, {} declined, {} broken on purpose, {} finds\n",
               seconds, groups["programs"], groups["calls/agreed"], groups["declined"],
               groups["broken"], out_.finds);
    std::fflush(stdout);
  }

  const SoakPlan& plan_;
  Clock::time_point start_, end_;
  std::vector<Running> running_;
  int faults_ = 0;
  SoakResult out_;
};

}  // namespace

SoakResult soak(const SoakPlan& plan) { return Watcher(plan).run(); }

}  // namespace ww::test
