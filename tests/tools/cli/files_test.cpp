// SPDX-License-Identifier: Apache-2.0
// What the program does to files: nothing is lost that it was given, nothing stays that it needed
// for itself, and a name is only a name, whatever it is made of.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/cli/program.h"

namespace ww::cli_test::files_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kKernel = R"(
@T.prim_func
def double(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32,), "float32")
    B = T.match_buffer(B_ptr, (32,), "float32")
    T.device_entry()
    tid = T.thread_id([32])
    B[tid] = A[tid] + A[tid]
)";

constexpr const char* kProgram = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry store(.param .u64 a, .param .u64 b)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd0, [a];
    ld.param.u64 %rd1, [b];
    st.global.u32 [%rd0], 7;
    st.global.u32 [%rd1], 8;
    ret;
}
)";

constexpr const char* kTuned = R"(
def build(n):
    @T.prim_func
    def fill(A_ptr: T.handle, B_ptr: T.handle):
        A = T.match_buffer(A_ptr, (32,), "float32")
        B = T.match_buffer(B_ptr, (32,), "float32")
        T.device_entry()
        tid = T.thread_id([32])
        B[tid] = A[tid] * n
    return fill
)";
const std::string kTune = "tune t.py --kernel 'build(n=?)' --space n=1,2 --device sim";

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A folder with k.py, t.py, k.ptx, a.npy (32 floats) and best.json.
class Files : public testing::Test {
 protected:
  void SetUp() override {
    write("k.py", kKernel);
    write("t.py", kTuned);
    write("k.ptx", kProgram);
    write("best.json", "{\"kernel\": \"double\"}\n");
    ASSERT_EQ(in_folder("run k.py --device eval --out B=a.npy").status, 0);
    before_ = contents();
  }
  [[nodiscard]] fs::path at(const std::string& name) const {
    return fs::path(folder_.path()) / name;
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(at(name), std::ios::binary) << text;
  }
  [[nodiscard]] Setting here() const { return {.environment = {}, .folder = folder_.path()}; }
  [[nodiscard]] Ran in_folder(const std::string& line) const { return run(words_of(line), here()); }

  // Every file by its name; of a link, where it leads.
  [[nodiscard]] std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> out;
    collect(folder_.path(), "", out);
    return out;
  }
  static void collect(const fs::path& folder, const std::string& prefix,
                      std::map<std::string, std::string>& out) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = prefix + entry.path().filename().string();
      if (entry.is_symlink())
        out[name] = "-> " + fs::read_symlink(entry.path()).string();
      else if (entry.is_directory())
        collect(entry.path(), name + "/", out);
      else if (entry.is_regular_file())
        out[name] = read_text(entry.path());
    }
  }

  // Refused before anything is done, with this in the message.
  void expect_refused(const std::string& line, const std::string& why) const {
    const auto files = contents();
    const Ran ran = in_folder(line);
    EXPECT_EQ(ran.status, 2) << line;
    EXPECT_EQ(ran.out, "") << line;
    EXPECT_THAT(ran.err, HasSubstr(why)) << line;
    EXPECT_EQ(contents(), files) << line;
  }

  Folder folder_;
  std::map<std::string, std::string> before_;
};

// --- outputs over inputs -------------------------------------------------------------------------

TEST_F(Files, NoOutputOverwritesASource) {
  fs::create_symlink("k.py", at("soft.py"));
  fs::create_hard_link(at("k.py"), at("hard.py"));
  fs::create_directory(at("sub"));
  for (const std::string name : {"k.py", "./k.py", "sub/../k.py", "soft.py", "hard.py"}) {
    expect_refused("compile k.py -o " + name,
                   "error: `" + name + "` is the source, and the output would overwrite it");
    expect_refused("run k.py --device eval --out B=" + name,
                   "error: `" + name + "` is the source, and the output would overwrite it");
  }
  expect_refused("compile soft.py --emit ptx -o k.py", "`k.py` is the source");
  expect_refused(kTune + " -o ./t.py", "`./t.py` is the source");
  expect_refused("sim k.ptx --grid 1 --block 1 --arg 0=u32[1] --arg 1=u32[1] --out 1=./k.ptx",
                 "`./k.ptx` is the program");
}

TEST_F(Files, NoOutputOverwritesAnArgument) {
  fs::create_symlink("a.npy", at("soft.npy"));
  for (const std::string name : {"a.npy", "./soft.npy"}) {
    const std::string why = "`" + name + "` is the argument `A`, and the output would overwrite it";
    expect_refused("run k.py --device eval --arg A=@a.npy --out B=" + name, why);
    expect_refused("compile k.py --emit cuda --main --arg A=@a.npy -o " + name, why);
    expect_refused(kTune + " --arg A=@a.npy -o " + name, why);
  }
  expect_refused("sim k.ptx --grid 1 --block 1 --arg 0=@a.npy:u32 --arg 1=u32[1] --out 1=a.npy",
                 "`a.npy` is the argument `0`");
  expect_refused("compile k.py --kernel @best.json -o best.json",
                 "`best.json` is the file of `--kernel`");
}

TEST_F(Files, TwoOutputsAreTwoFiles) {
  expect_refused("run k.py --device eval --out A=o.npy --out B=./o.npy",
                 "--out:1:3: error: `./o.npy` is written twice: for `A` and for `B`");
  fs::create_symlink("o.npy", at("soft.npy"));
  expect_refused("run k.py --device eval --out A=soft.npy --out B=o.npy", "written twice");
  expect_refused("sim k.ptx --grid 1 --block 1 --arg 0=u32[1] --arg 1=u32[1] --out 0=o --out 1=o",
                 "`o` is written twice: for parameter 0 `a` and for parameter 1 `b`");
  EXPECT_EQ(in_folder("run k.py --device eval --out A=/dev/null --out B=/dev/null").status, 0);
}

// --- what cannot be written ----------------------------------------------------------------------

TEST_F(Files, WhatCannotBeWrittenIsSaidBeforeTheRun) {
  write("fixed.npy", "old");
  fs::permissions(at("fixed.npy"), fs::perms::owner_read);
  fs::create_symlink("loop.npy", at("loop.npy"));
  fs::create_directory(at("sub"));
  const std::pair<std::string, std::string> cases[] = {
      {"fixed.npy", "cannot write `fixed.npy`: the file is read-only"},
      {"loop.npy", "cannot write `loop.npy`: Too many levels of symbolic links"},
      {"sub", "cannot write `sub`: Is a directory"},
      {"no/o.npy", "cannot write `no/o.npy`: No such file or directory"},
      {"k.py/o.npy", "cannot write `k.py/o.npy`: Not a directory"}};
  for (const auto& [name, why] : cases) {
    expect_refused("run k.py --device eval --out B=" + name, "--out:1:3: error: " + why);
    expect_refused("compile k.py -o " + name, "-o:1:1: error: " + why);
    expect_refused("layout 'row_major(4,4)' -o " + name, why);
  }
  fs::permissions(at("sub"), fs::perms::owner_read | fs::perms::owner_exec);
  if (::geteuid() != 0)
    expect_refused("run k.py --device eval --out B=sub/o.npy", "Permission denied");
  fs::permissions(at("sub"), fs::perms::owner_all);
}

TEST_F(Files, AnEmptyNameIsNotNoName) {
  for (const std::string command :
       {"compile k.py", "tune k.py --kernel double", "bench --report", "layout 'row_major(4,4)'"})
    for (const std::string option : {" -o ''", " --output ''"})
      expect_refused(command + option, "--output: the value is empty, expected FILE");
  expect_refused("compile k.py --output=", "`--output` needs a value");
  expect_refused("compile k.py --target ''", "--target: the value is empty, expected ARCH");
  expect_refused("run k.py --out B=", "expected `NAME=FILE.npy`");
}

TEST_F(Files, LinksStayAndTheirFilesAreWritten) {
  fs::create_directory(at("sub"));
  write("sub/o.ptx", "old");
  fs::permissions(at("sub/o.ptx"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("sub/o.ptx", at("link.ptx"));
  EXPECT_EQ(in_folder("compile k.py --emit ptx -o link.ptx").status, 0);
  EXPECT_TRUE(fs::is_symlink(at("link.ptx")));
  EXPECT_EQ(read_text(at("sub/o.ptx")), in_folder("compile k.py --emit ptx").out);
  EXPECT_EQ(fs::status(at("sub/o.ptx")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Files, StreamsAreWrittenTo) {
  const std::string ptx = in_folder("compile k.py --emit ptx").out;
  EXPECT_EQ(in_folder("compile k.py --emit ptx -o /dev/stdout").out, ptx);
  EXPECT_EQ(in_folder("compile k.py --emit ptx -o /dev/fd/1").out, ptx);
  EXPECT_EQ(in_folder("compile k.py --emit ptx -o /dev/stderr").err, ptx);
  EXPECT_EQ(in_folder("compile k.py --emit ptx -o /dev/null").status, 0);
  const Ran full = in_folder("compile k.py --emit ptx -o /dev/full");
  EXPECT_EQ(full.status, 2);
  EXPECT_THAT(full.err, HasSubstr("cannot write `/dev/full`: No space left on device"));
  const Ran report = in_folder("run k.py --device eval --out B=/dev/full --json");
  EXPECT_EQ(report.status, 2);
  EXPECT_THAT(report.out, Not(HasSubstr("/dev/full"))) << "nothing was written there";
  // Behind what a shell has put there.
  const std::string script =
      "echo one >o; '" WW_PROGRAM "' compile k.py --emit ptx -o /dev/stdout >>o; echo two >>o";
  EXPECT_EQ(run_words({"sh", "-c", script}, here()).status, 0);
  EXPECT_EQ(read_text(at("o")), "one\n" + ptx + "two\n");
  const std::string pipe =
      "mkfifo p; cat p >o & '" WW_PROGRAM "' compile k.py --emit ptx -o p; wait";
  EXPECT_EQ(run_words({"sh", "-c", pipe}, here()).status, 0);
  EXPECT_EQ(read_text(at("o")), ptx);
}

// Each would wait for somebody who writes to the pipe.
TEST_F(Files, WhatIsNoFileIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo(at("p").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(at("helper.py").c_str(), 0600), 0);
  write("user.py", std::string("from helper import N\n") + kKernel);
  for (const std::string command :
       {"run p", "compile p", "explain p", "explore p", "explore p --export o.html", "isa check p",
        "sim p --grid 1 --block 1", "run k.py --kernel @p", "run k.py --arg A=@p"})
    expect_refused(command, "cannot read `p`: it is a named pipe, expected a file");
  expect_refused("run user.py", "cannot read `helper.py`: it is a named pipe, expected a file");
  expect_refused("run /dev/zero", "cannot read `/dev/zero`: it is a device, expected a file");
  expect_refused("run .", "cannot read `.`: Is a directory");
  const std::string unread = "cannot write `p`: it is a named pipe, and nothing reads it";
  expect_refused("compile k.py -o p", unread);
  const Ran late = in_folder("run k.py --device eval --out B=p");  // prints, then writes
  EXPECT_EQ(late.status, 2);
  EXPECT_THAT(late.err, HasSubstr(unread));
  expect_refused("layout 'row_major(4,4)' -o p", unread);
  expect_refused("lsp --log p", "cannot write the log to `p`");
  // What the shell has opened is read.
  const std::string piped =
      "'" WW_PROGRAM "' compile /dev/stdin --emit ptx -o o <k.py && cat k.py | '" WW_PROGRAM
      "' compile /dev/fd/0 --emit ptx -o o";
  EXPECT_EQ(run_words({"sh", "-c", piped}, here()).status, 0);
}

// --- ends before the end -------------------------------------------------------------------------

TEST_F(Files, ALimitOnFilesIsAnError) {
  write("o.ptx", "old");
  const auto files = contents();
  for (const std::string where : {"-o o.ptx", "-o new.ptx"}) {
    const Ran ran = run_words(
        {"sh", "-c", "ulimit -f 0; '" WW_PROGRAM "' compile k.py --emit ptx " + where}, here());
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, HasSubstr("ptx`: File too large [Io]"));
    EXPECT_EQ(contents(), files);
  }
  const Ran ran = run_words(
      {"sh", "-c", "ulimit -f 0; '" WW_PROGRAM "' compile k.py --emit ptx >o.ptx"}, here());
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("cannot write the results to standard output: File too large"));
}

class Signals : public Files, public testing::WithParamInterface<int> {};

// An assembler that says when it is there, and then takes longer than anyone has: it and its child
// keep the pipe open.
TEST_P(Signals, LeaveNothingBehind) {
  ASSERT_EQ(::mkfifo(at("ready").c_str(), 0600), 0);
  const std::string script = "exec 3>'" + at("ready").string() +
                             "'; sleep 50 & echo >&3; trap '' TERM INT HUP; wait; wait\n";
  write("ptxas", "#!/bin/sh\n" + script);
  fs::permissions(at("ptxas"), fs::perms::owner_all);
  fs::create_directory(at("temporary"));
  write("o.cubin", "old");
  const auto files = contents();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    ::signal(GetParam(), SIG_DFL);  // which nohup, and a shell in the background, make us ignore
    ::setenv("PTXAS", at("ptxas").c_str(), 1);
    ::setenv("TMPDIR", at("temporary").c_str(), 1);
    if (::chdir(folder_.path().c_str()) == 0)
      ::execl(WW_PROGRAM, WW_PROGRAM, "compile", "k.py", "--emit", "cubin", "-o", "o.cubin",
              nullptr);
    ::_exit(127);
  }
  const int pipe = ::open(at("ready").c_str(), O_RDONLY | O_CLOEXEC);
  char c = 0;
  EXPECT_EQ(::read(pipe, &c, 1), 1);
  EXPECT_NE(contents(), files);  // what it assembles is there
  ::kill(child, GetParam());
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == GetParam()) << status;
  EXPECT_EQ(::read(pipe, &c, 1), 0);  // all that held it are gone
  ::close(pipe);
  EXPECT_EQ(contents(), files);
}

INSTANTIATE_TEST_SUITE_P(Files, Signals, testing::Values(SIGTERM, SIGINT, SIGHUP, SIGXCPU));

// --- names ---------------------------------------------------------------------------------------

const std::string kNames[] = {
    "\u00e4\u4e2d.py", "it's \"so\".py",      "back\\slash.py", "end\\",
    "a\nb.py",         "a\x1b[2Jb.py",        "\xff\xe4.py",    "\u009b\u202e.py",
    "%s%n{}.py",       std::string(200, 'n'), "* #;$(x).py",    "\t .py"};

std::vector<char> controls_in(const std::string& text) {
  std::vector<char> out;
  for (const char c : text)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f) out.push_back(c);
  return out;
}

// Neither bytes that a terminal acts upon, nor lines that the name begins.
void expect_harmless(const Ran& ran, const std::string& what) {
  for (const std::string& text : {ran.out, ran.err}) {
    EXPECT_THAT(controls_in(text), IsEmpty()) << what << ":\n" << text;
    EXPECT_THAT(text, AllOf(Not(HasSubstr("\u009b")), Not(HasSubstr("\u202e")),
                            Not(HasSubstr("\nb.py")), Not(HasSubstr("\xff"))))
        << what;
  }
}

TEST_F(Files, NamesAreOnlyNames) {
  const std::string cut = std::string(kKernel).substr(0, 60);
  for (const std::string& name : kNames) {
    write(name, kKernel);
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"run", name, "--device", "sim", "--expect", "B == A"},
             {"run", name, "--device", "eval", "--out", "B=" + name + ".npy"},
             {"run", name, "--json", "--device", "sim", "--out", "B=" + name + ".npy"},
             {"run", "k.py", "--arg", "A=@" + name},
             {"run", name + "x"},
             {"explain", name},
             {"explain", name, "--json"},
             {"compile", name, "--emit", "threads"},
             {"compile", name, "--kernel", "@" + name},
             {"compile", name, "-o", name},
             {"tune", name, "--kernel", "double", "--device", "sim", "--expect", "B == A"},
             {"isa", "check", name},
             {"sim", name, "--grid", "1", "--block", "1"},
             {"run", "k.py", "--" + name},
             {name},
             {"run", "k.py", "--device", name},
             {"new", name + "/x.py"}}) {
      const Ran ran = run(words, here());
      EXPECT_LE(ran.status, 2) << words[0] << " " << name << "\n" << ran.err;
      expect_harmless(ran, words[0] + " " + name);
      const bool is_json = words.size() > 2 && words[2] == "--json" && ran.status == 0;
      EXPECT_TRUE(!is_json || nlohmann::json::accept(ran.out)) << ran.out;
    }
  }
}

TEST_F(Files, LinesOfSourcesAreOnlyText) {
  // A string, a comment and a name with what a terminal would take.
  write("bad.py", "x = 'a\x1b[2J\u202e'  # \x1b]0;title\x07\ny = nothing + 'a\x1b[2J'\n");
  expect_harmless(in_folder("compile bad.py"), "compile");
  write("said.py", std::string(kKernel) + "    T.evaluate(T.call_extern('\x1b[2J', A[tid]))\n");
  for (const std::string form : {"threads", "explain", "tile"})
    expect_harmless(in_folder("compile said.py --emit " + form), form);
  write("bad.ptx", std::string(kProgram) + "// \x1b[2J\n.entry \x1b[2J \xff()\n");
  expect_harmless(in_folder("isa check bad.ptx"), "isa check");
  expect_harmless(in_folder("isa check bad.ptx --json"), "isa check --json");
  write("odd.npy", "\x93NUMPY\x01\x00{'\x1b[2J\xff': 1}\n");
  expect_harmless(in_folder("run k.py --arg A=@odd.npy"), "odd.npy");
  expect_harmless(run({"run", "k.py", "--arg", "A=\x1b[2J"}, here()), "--arg");
  expect_harmless(run({"run", "k.py", "--expect", "B == \x1b[2J"}, here()), "--expect");
  expect_harmless(run({"layout", "S[\x1b[2J]"}, here()), "layout");
}

std::string find_ptxas() {
  const std::string usual = "/usr/local/cuda/bin/ptxas";
  return is_installed("ptxas") ? "ptxas" : fs::exists(usual) ? usual : "";
}

// PTX is ASCII, and a path in it must not end the string that it is in.
TEST_F(Files, EveryNameCanBeAssembled) {
  const std::string ptxas = find_ptxas();
  for (const std::string& name : kNames) {
    write(name, kKernel);
    const Ran ran = run({"compile", name, "--emit", "ptx", "-o", "o.ptx"}, here());
    EXPECT_EQ(ran.status, 0) << ran.err;
    const std::string ptx = read_text(at("o.ptx"));
    for (const char c : ptx) ASSERT_TRUE(c == '\n' || c == '\t' || (c >= ' ' && c <= '~')) << name;
    EXPECT_EQ(in_folder("isa check o.ptx").status, 0) << ptx;
    if (ptxas.empty()) continue;
    const Ran assembled = run_words({ptxas, "-arch=sm_90a", "o.ptx", "-o", "o.cubin"}, here());
    EXPECT_EQ(assembled.status, 0) << name << ":\n" << assembled.out << assembled.err;
  }
  if (ptxas.empty()) GTEST_SKIP() << "ptxas is not installed; all else holds";
}

// Comments with a path in them end where their line does.
TEST_F(Files, EveryNameFitsIntoCuda) {
  const auto code_of = [](const std::string& text) {
    std::string out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_FALSE(line.ends_with('\\')) << text;
      if (!line.starts_with("//")) out += line + "\n";
    }
    return out;
  };
  const std::string expected = code_of(in_folder("compile k.py --emit cuda").out);
  for (const std::string& name : kNames) {
    write(name, kKernel);
    EXPECT_EQ(code_of(run({"compile", name, "--emit", "cuda"}, here()).out), expected) << name;
  }
}

// What the virtual GPU finds is shown with the path as it was.
TEST_F(Files, PathsInPtxAreRead) {
  write("\u00e4.py", kKernel);
  run({"compile", "\u00e4.py", "--emit", "ptx", "-o", "o.ptx"}, here());
  const Ran ran = in_folder("sim o.ptx --grid 1 --block 32 --arg 0=f32[8]:ones --arg 1=f32[32]");
  EXPECT_THAT(ran.out, HasSubstr("\u00e4.py:8"));
}

}  // namespace
}  // namespace ww::cli_test::files_test
