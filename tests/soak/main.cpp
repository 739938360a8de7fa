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

#include "runtime/cuda_calls.h"
#include "runtime/cuda_device.h"
#include "soak/workers.h"

namespace {

constexpr std::string_view kUsage =
    "usage: soak [--minutes M | --programs N] [--seed S] [--workers W] [--finds FOLDER] [--cuda "
    "N]\n"
    "       soak --seed S --number N     one program: what is wrong with it, or its text\n"
    "\n"
    "  --cuda N    every N-th program also through nvcc and ptxas; 0: none\n"
    "WW_DEVICE=cuda in the environment: the GPU takes part; auto: if there is one.\n"
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
  if (device == nullptr || std::string_view(device) != "auto") return;
  ::setenv("WW_DEVICE", has_gpu() ? "cuda" : "", 1);
}

int show_one(std::uint64_t seed, std::uint64_t number) {
  const ww::test::Choices choices = ww::test::whole_choices(seed, number);
  const ww::test::Examined examined = ww::test::examine(choices);
  fmt::print("{}\n{}", examined.is_find ? examined.explanation : examined.checked.explain(),
             ww::test::table_of(examined.tally));
  return examined.is_find ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1 || std::string_view(argv[1]).starts_with("--gtest")) {
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
  }
  ww::test::SoakPlan plan;
  plan.workers = std::max(1U, std::thread::hardware_concurrency());
  double number = -1;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view name = argv[i];
    char* end = nullptr;
    const double value = i + 1 < argc ? std::strtod(argv[i + 1], &end) : -1;
    const bool is_number = end != nullptr && *end == '\0' && end != argv[i + 1] && value >= 0;
    if (name == "--finds" && i + 1 < argc) {
      plan.finds = argv[i + 1];
    } else if (name == "--minutes" && is_number) {
      plan.seconds = value * 60;
    } else if (name == "--programs" && is_number) {
      plan.programs = static_cast<std::uint64_t>(value);
    } else if (name == "--seed" && is_number) {
      plan.seed = static_cast<std::uint64_t>(value);
    } else if (name == "--workers" && is_number && value >= 1) {
      plan.workers = static_cast<unsigned>(value);
    } else if (name == "--cuda" && is_number) {
      plan.cuda_share = static_cast<std::uint64_t>(value);
    } else if (name == "--number" && is_number) {
      number = value;
    } else {
      fmt::print(stderr, "soak: `{}` is not understood\n{}", name, kUsage);
      return 2;
    }
  }
  choose_device();
  if (number >= 0) return show_one(plan.seed, static_cast<std::uint64_t>(number));
  if (plan.seconds == 0 && plan.programs == 0) {
    fmt::print("{}", kUsage);
    return 2;
  }
  const ww::test::SoakResult result = ww::test::soak(plan);
  fmt::print("seed {}\n{}{} finds{}\n", plan.seed, ww::test::table_of(result.tally), result.finds,
             result.finds == 0 ? "" : ", in " + plan.finds.string());
  return result.finds == 0 ? 0 : 1;
}
