// SPDX-License-Identifier: Apache-2.0
// Same inputs, same bytes: what the program prints does not depend on the run, on the number of
// host threads, on locale, time zone, folder or other surroundings. The PTX of all examples is held
// by golden/digests.txt, which is one file for all hosts; BLESS=1 writes it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tools/cli/program.h"

namespace ww::cli_test::determinism_test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

std::string source(const std::string& path) { return (fs::path(WW_SOURCE_DIR) / path).string(); }

constexpr std::size_t kFormsOfAFile = 10;

/// Every form of output, of programs that have registers, products, floats in text and findings.
std::vector<Words> commands() {
  std::vector<Words> out;
  const Words files = {"examples/basics/ldstmatrix.py", "examples/transpose.py",
                       "examples/gemm_bias_relu.py", "examples/tcgen05_epilogue.py"};
  for (const std::string& file : files) {
    for (const char* form : {"tile", "threads", "explain", "ir", "cuda", "ptx"})
      out.push_back({"compile", file, "--emit", form});
    out.push_back({"explain", file, "--json"});
    out.push_back({"run", file, "--device", "sim"});
    out.push_back({"run", file, "--device", "sim", "--json"});
    out.push_back({"run", file, "--device", "sim", "--schedule", "random:5"});
    EXPECT_EQ(out.size() % kFormsOfAFile, 0U);
  }
  out.push_back({"run", "examples/findings/race.py", "--device", "sim", "--json"});
  out.push_back({"run", "examples/basics/gemm.py", "--device", "eval", "--json"});
  out.push_back({"compile", "examples/gemm_mma.py", "--emit", "cuda", "--main"});
  out.push_back({"compile", "examples/errors/wrong.py"});
  out.push_back({"isa", "show", "mma"});
  out.push_back({"layout", "mma_frag(A,16,float16)", "--shape", "16,16", "--as", "svg"});
  return out;
}

std::string text_of(const Words& words) {
  std::string out = "warpwright";
  for (const std::string& word : words) out += " " + word;
  return out;
}

Setting at_home(Words environment = {}) {
  return {.environment = std::move(environment), .folder = WW_SOURCE_DIR};
}

/// What differs between two runs; empty: nothing.
std::string difference(const Ran& first, const Ran& again) {
  if (first.status != again.status) return "the exit status";
  if (first.out != again.out) return "what is printed";
  return first.err == again.err ? "" : "the errors";
}

void expect_same(const Words& command, const Ran& first, const Setting& setting,
                 const std::string& what) {
  EXPECT_EQ(difference(first, run(command, setting)), "") << text_of(command) << ", " << what;
}

TEST(Determinism, DifferencesAreSeen) {
  const auto with_seed = [](const std::string& seed) {
    return run({"run", "examples/copy_through.py", "--device", "sim", "--arg", "A=randn:" + seed},
               at_home());
  };
  const Ran first = with_seed("1");
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(difference(first, with_seed("1")), "");
  EXPECT_EQ(difference(first, with_seed("2")), "what is printed");
  EXPECT_EQ(difference(first, run({"run", "examples/none.py"}, at_home())), "the exit status");
}

// Locales that are neither installed nor can be made here are C, which is one case more.
std::string made_locales(const Folder& folder) {
  if (is_installed("localedef"))
    for (const auto& [name, charset] : {std::pair("de_DE", "ISO-8859-1"), {"fr_FR", "UTF-8"}})
      run_words({"localedef", "-i", name, "-f", charset,
                 fmt::format("{}/{}.{}", folder.path(), name, charset)});
  return "LOCPATH=" + folder.path();
}

TEST(Determinism, SurroundingsDoNotShow) {
  const Folder folder, elsewhere;
  const std::string locales = made_locales(folder);
  fs::create_directory_symlink(source("examples"), fs::path(elsewhere.path()) / "examples");
  // Each is a second run, too. A command gets one of them; every form of output gets both, because the
  // files take turns.
  const std::vector<std::pair<std::string, Setting>> surroundings = {
      {"in German and Latin-1, among other variables",
       at_home({locales, "LC_ALL=de_DE.ISO-8859-1", "LANG=de_DE.ISO-8859-1", "LANGUAGE=de",
                "TZ=America/St_Johns", "WW_NOISE=1", "OMP_NUM_THREADS=7", "MALLOC_PERTURB_=165",
                "MALLOC_ARENA_MAX=1", "HOME=/nonexistent", "TERM=dumb", "COLUMNS=40",
                "PYTHONHASHSEED=3"})},
      {"in French, in another folder",
       {.environment = {locales, "LC_ALL=fr_FR.UTF-8", "TZ=Pacific/Kiritimati"},
        .folder = elsewhere.path()}},
  };
  const std::vector<Words> all = commands();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Ran first = run(all[i], at_home());
    EXPECT_FALSE(first.out.empty() && first.err.empty()) << text_of(all[i]);
    const auto& [what, setting] = surroundings[(i + i / kFormsOfAFile) % surroundings.size()];
    expect_same(all[i], first, setting, what);
  }
}

TEST(Determinism, HostThreadsDoNotShow) {
  const Folder folder;
  const std::string ptx = folder.path() + "/transpose.ptx";
  ASSERT_EQ(run({"compile", "examples/transpose.py", "--emit", "ptx", "-o", ptx}, at_home()).status,
            0);
  const Words command = {"sim",        ptx,
                         "--grid",     "2,2",
                         "--block",    "128",
                         "--arg",      "0=f16[128,128]:randn",
                         "--arg",      "1=f16[128,128]",
                         "--expect",   "$1 == $0.T",
                         "--counters", "--json"};
  const auto with_threads = [&](const std::string& n) {
    Words words = command;
    words.insert(words.end(), {"--threads", n});
    return run(words);
  };
  const Ran one = with_threads("1");
  EXPECT_EQ(one.status, 0) << one.err;
  for (const std::string n : {"2", "3", "8"}) {
    EXPECT_EQ(difference(one, with_threads(n)), "") << n << " threads";
  }
}

// --- digests -------------------------------------------------------------------------------------

std::uint64_t digest_of(const std::string& text) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325U;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100'0000'01B3U;
  return hash;
}

std::string digests() {
  Words files;
  for (const auto& entry : fs::recursive_directory_iterator(source("examples")))
    if (entry.path().extension() == ".py")
      files.push_back(fs::relative(entry.path(), source("")).string());
  std::sort(files.begin(), files.end());
  std::string out = "# PTX of the examples: FNV-1a of the text, bytes, target\n";
  for (const std::string& file : files) {
    for (const char* target : {"sm_90a", "sm_100a"}) {
      const Ran ran = run({"compile", file, "--emit", "ptx", "--target", target}, at_home());
      if (ran.status != 0) continue;
      out += fmt::format("{:016x} {:>7} {} {}\n", digest_of(ran.out), ran.out.size(), target, file);
    }
  }
  return out;
}

TEST(Determinism, PtxOfTheExamplesIsTheSameOnEveryHost) {
  const fs::path path = source("tests/golden/digests.txt");
  const std::string seen = digests();
  EXPECT_GT(std::count(seen.begin(), seen.end(), '\n'), 20);
  if (std::getenv("BLESS") != nullptr) {
    std::ofstream(path) << seen;
    return;
  }
  std::ifstream in(path);
  const std::string wanted{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(seen, wanted) << "BLESS=1 accepts what was seen";
}

}  // namespace
}  // namespace ww::cli_test::determinism_test
