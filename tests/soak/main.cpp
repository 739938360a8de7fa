// SPDX-License-Identifier: Apache-2.0
// soak: random whole programs on every engine against every other, for minutes or hours.
// Without arguments, and with those of GoogleTest, the test of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "harness/assembly.h"
#include "harness/cuda_batch.h"
#include "runtime/cuda_calls.h"
#include "runtime/cuda_device.h"
#include "soak/summary.h"
#include "soak/workers.h"

namespace {

constexpr std::string_view kUsage =
    "usage: soak [--minutes M | --programs N] [--seed S] [--jobs J] [--finds FOLDER]\n"
    "            [--only KIND] [--cuda N] [--patience S] [--shrink 0]\n"
    "       soak --seed S --number N     one program: what is wrong with it, or its text; without\n"
    "                                    nvcc and ptxas if --cuda 0 is said\n"
    "\n"
    "  --jobs J       processes; as many as there are cores, if not said. Which program is which\n"
    "                 does not depend on it\n"
    "  --only KIND    programs of this kind: tiles, scalars, scopes, folds, casts, autos\n"
    "  --patience S   seconds that one program may take; 300 if not said\n"
    "  --cuda N       every N-th program also through nvcc and ptxas; 0: none\n"
    "A GPU takes part if there is one. WW_DEVICE in the environment: `cuda` asks for it, empty:\n"
    "none does.\n"
    "Exits 1 when something was found; the programs are in FOLDER then, `soak-finds` if not "
    "said.\n";

// Asked in a process of its own: a driver that has started does not survive a fork.
bool has_gpu() {
  const pid_t process = ::fork();
  if (process == 0) {
    const auto calls = ww::runtime::load_cuda_calls("libcuda.so.1");
    std::_Exit(calls && ww::runtime::CudaDevice::open(*calls) ? 0 : 1);
  }
  int status = 1;
  return process > 0 && ::waitpid(process, &status, 0) == process && status == 0;
}

void choose_device() {
  const char* const device = std::getenv("WW_DEVICE");
  if (device != nullptr && std::string_view(device) != "auto") return;
  ::setenv("WW_DEVICE", has_gpu() ? "cuda" : "", 1);
}

// What nvcc and ptxas make of a program that is right on the other engines: "" or what is wrong.
std::string by_tools(const ww::test::Checked& checked) {
  ww::test::CudaBatch batch;
  ww::test::Assembly assembly;
  batch.add(checked);
  assembly.add(checked.ran->target, checked.ptx);
  std::string skipped;
  return batch.run(skipped) + assembly.assemble(skipped);
}

int show_one(const ww::test::SoakPlan& plan, std::uint64_t number) {
  const ww::test::Choices choices = ww::test::whole_choices(plan.seed, number, plan.only);
  const ww::test::Examined examined = ww::test::examine(choices);
  const std::string wrong =
      plan.cuda_share > 0 && examined.checked.right() ? by_tools(examined.checked) : "";
  fmt::print("{}{}\n{}", wrong,
             examined.is_find ? examined.explanation : examined.checked.explain(),
             ww::test::summary_of(examined.tally));
  return examined.is_find || !wrong.empty() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1 || std::string_view(argv[1]).starts_with("--gtest")) {
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
  }
  ww::test::SoakPlan plan;
  plan.jobs = std::max(1U, std::thread::hardware_concurrency());
  double number = -1;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    char* end = nullptr;
    const double value = i + 1 < argc ? std::strtod(argv[i + 1], &end) : -1;
    const bool is_number = end != nullptr && *end == '\0' && end != argv[i + 1] && value >= 0;
    if (name == "--finds" && i + 1 < argc) {
      plan.finds = argv[i + 1];
    } else if (name == "--only" && i + 1 < argc && ww::test::kind_of(argv[i + 1])) {
      plan.only = ww::test::kind_of(argv[i + 1]);
    } else if (name == "--minutes" && is_number) {
      plan.seconds = value * 60;
    } else if (name == "--programs" && is_number) {
      plan.programs = static_cast<std::uint64_t>(value);
    } else if (name == "--seed" && is_number) {
      plan.seed = static_cast<std::uint64_t>(value);
    } else if (name == "--jobs" && is_number && value >= 1) {
      plan.jobs = static_cast<unsigned>(value);
    } else if (name == "--cuda" && is_number) {
      plan.cuda_share = static_cast<std::uint64_t>(value);
    } else if (name == "--patience" && is_number) {
      plan.patience = value;
    } else if (name == "--shrink" && is_number) {
      plan.shrinks = value != 0;
    } else if (name == "--number" && is_number) {
      number = value;
    } else {
      fmt::print(stderr, "soak: `{}` is not understood\n{}", name, kUsage);
      return 2;
    }
  }
  choose_device();
  if (number >= 0) return show_one(plan, static_cast<std::uint64_t>(number));
  if (plan.seconds == 0 && plan.programs == 0) {
    fmt::print("{}", kUsage);
    return 2;
  }
  const ww::test::SoakResult result = ww::test::soak(plan);
  fmt::print("seed {}\n{}{} finds{}\n", plan.seed, ww::test::summary_of(result.tally), result.finds,
             result.finds == 0 ? "" : ", in " + plan.finds.string());
  return result.finds == 0 ? 0 : 1;
}
