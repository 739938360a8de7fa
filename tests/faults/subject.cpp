// SPDX-License-Identifier: Apache-2.0
#include "faults/subject.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <utility>

#include "base/check.h"
#include "emit/ptx/emit.h"
#include "lower/code_observer.h"
#include "lower/lower.h"
#include "ptx/printer.h"
#include "script/compile.h"
#include "sim/program.h"

namespace ww::test {
namespace {

std::string words_of(const std::vector<Diag>& errors) {
  std::string out;
  for (const Diag& error : errors) out += error.text + "; ";
  return out;
}

std::string words_of(const lower::Proof& proof) {
  return proof.difference.empty() ? proof.could_not : proof.difference;
}

/// May change the code of a call, and says whether it has. The code stays in the program whatever the
/// proof says of it; code that was left alone is not proven.
class FaultPlanter final : public lower::CodeObserver {
 public:
  using Change = std::function<bool(ir::Function&, ir::Block&)>;
  explicit FaultPlanter(Change change) : change_(std::move(change)) {}

  lower::Proof observe(ir::Function& f, ir::Block& code,
                       const std::function<lower::Proof()>& prove) override {
    if (change_(f, code)) proof = prove();
    return {};
  }

  std::optional<lower::Proof> proof;  // of the changed code

 private:
  Change change_;
};

}  // namespace

std::string Sentence::text() const {
  return fmt::format("{} | {} | {} | {}", program, primitive.empty() ? "-" : primitive,
                     name_of(kind), what);
}

Subject::Subject(const SubjectText& text) : text_(text) {
  target_ = {.arch = target::parse_arch(text.target).value(), .ptx = 90};
  auto compiled = script::compile(SourceText(text.name, text.source),
                                  {.kernel = text.kernel, .target = target_});
  EXPECT_TRUE(compiled.function) << text.name << ": " << words_of(compiled.errors);
  if (!compiled.function) return;
  tile_ = std::move(compiled.function);
  args_ = make_args(*tile_, {}, 1, Inputs::Whole);
  bool is_evaluated = true;
  const auto wrong = evaluate(*tile_, args_, expected_, is_evaluated);
  EXPECT_FALSE(wrong) << text.name << ": " << *wrong;
  // Without a fault nobody says anything.
  Sentence sentence;
  const lower::Lowered lowered = lower::lower(*tile_, {.target = target_});
  EXPECT_TRUE(lowered.function) << text.name << ": " << words_of(lowered.errors);
  if (lowered.function) run(*lowered.function, sentence);
  EXPECT_FALSE(sentence.is_caught())
      << text.name << ": " << sentence.build << sentence.checks << sentence.comparison;
}

std::vector<Subject::Place> Subject::places() const {
  std::vector<Place> out;
  ir::Function tile = *tile_;
  out.push_back({{}, "", faults_around(tile, tile.body)});
  FaultPlanter look([&](ir::Function& f, ir::Block& code) {
    out.push_back({out.size() - 1, "", faults_in_primitive(f, code)});
    return false;
  });
  const lower::Lowered lowered = lower::lower(*tile_, {.target = target_, .observer = &look});
  for (std::size_t i = 1; i < out.size(); ++i) {
    const lower::CallReport& call = lowered.report.calls.at(i - 1);
    out[i].primitive = fmt::format("{} by {}", call.op, call.chosen);
  }
  return out;
}

std::vector<Sentence> Subject::try_all(std::size_t limit) const {
  std::vector<Sentence> out;
  if (!tile_) return out;
  for (const Place& place : places()) {
    std::map<FaultKind, std::size_t> count, seen;
    for (const Fault& fault : place.faults) ++count[fault.kind];
    for (std::size_t i = 0; i < place.faults.size(); ++i) {
      const FaultKind kind = place.faults[i].kind;
      const std::size_t step = (count[kind] + limit - 1) / limit;
      if (seen[kind]++ % step != 0) continue;
      out.push_back(attempt(place, i));
    }
  }
  return out;
}

Sentence Subject::attempt(const Place& place, std::size_t which) const {
  Sentence out{.program = text_.name,
               .primitive = place.primitive,
               .kind = place.faults[which].kind,
               .what = place.faults[which].what};
  ir::Function tile = *tile_;
  std::size_t calls = 0;
  FaultPlanter planter([&](ir::Function& f, ir::Block& code) {
    if (calls++ != place.call) return false;
    plant_in_primitive(f, code, which);
    return true;
  });
  try {
    if (!place.call) plant_around(tile, tile.body, which);
    const lower::Lowered lowered = lower::lower(tile, {.target = target_, .observer = &planter});
    if (planter.proof) out.proof = words_of(*planter.proof);
    if (lowered.function)
      run(*lowered.function, out);
    else
      out.build = words_of(lowered.errors);
  } catch (const BugError& bug) {
    if (planter.proof) out.proof = words_of(*planter.proof);
    out.build = bug.what();
  }
  return out;
}

void Subject::run(const ir::Function& lowered, Sentence& out) const {
  const auto module = emit::ptx_module(lowered, {.target = target_});
  if (!module) {
    out.build = module.error().text;
    return;
  }
  const sim::LoadResult loaded = sim::load(ptx::print(*module), "fault.ptx");
  if (loaded.program == nullptr) {
    out.build = words_of(loaded.errors);
    return;
  }
  Results seen;
  if (const auto found = simulate({loaded.program}, lowered, args_, seen, nullptr))
    out.checks = *found;
  else
    out.comparison = difference_of(args_, expected_, seen).value_or("");
}

}  // namespace ww::test
