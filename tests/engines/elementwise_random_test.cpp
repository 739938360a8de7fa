// SPDX-License-Identifier: Apache-2.0
// Random chains of elementwise primitives on registers, on all engines. A failing program is shrunk
// and printed as a file.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "engines/elementwise_programs.h"
#include "engines/family.h"
#include "harness/random_run.h"

namespace ww::test::elementwise_random_test {
namespace {

struct RandomChain {
  ElementwiseCase chain;
  bool is_consistent = true;  // all tiles lie in the same threads
  bool may_overlap = false;   // a call reads registers that it writes elsewhere
};

class Generator {
 public:
  explicit Generator(const Choices& choices) : tape_(choices) {}

  RandomChain make() {
    struct Unit {
      std::string scope, axis;
      std::int64_t threads, unit;
    };
    static const std::vector<Unit> kUnits = {
        {"warp", "laneid", 32, 32}, {"warp", "laneid", 64, 32}, {"wg", "tid_in_wg", 128, 128},
        {"cta", "tx", 96, 96},      {"cta", "tx", 256, 256},    {"wg", "tid_in_wg", 256, 128},
        {"thread", "", 32, 1}};
    const Unit& unit = tape_.pick(kUnits);
    out_.chain.threads = unit.threads;
    prefix_ = prefix_of(unit.scope);
    axis_ = unit.axis;
    rows_ = unit.unit;
    columns_ =
        std::vector<std::int64_t>{4, 1, 2, 3, 8, 6}[static_cast<std::size_t>(tape_.below(6))];
    has_bfloat_ = tape_.one_in(3);
    out_.chain.inputs = has_bfloat_ ? Inputs::Whole : Inputs::Normal;
    rows_by_ = row_digits();
    const std::int64_t regs = 2 + tape_.below(3);
    for (std::int64_t i = 0; i < regs; ++i) add_tile(i);
    if (tape_.one_in(3)) add_stretched();
    const std::int64_t calls = 1 + tape_.below(has_bfloat_ ? 2 : 4);
    for (std::int64_t i = 0; i < calls; ++i) add_call();
    return std::move(out_);
  }

 private:
  struct Iter {
    std::int64_t extent, stride;
  };

  // --- tiles ---

  // Rows over threads: one digit, or two in either order.
  std::vector<Iter> row_digits() {
    if (rows_ == 1) return {};
    const std::int64_t inner =
        std::vector<std::int64_t>{1, 4, 8}[static_cast<std::size_t>(tape_.below(3))];
    if (inner == 1) return {{rows_, 1}};
    if (tape_.one_in(2)) return {{rows_ / inner, 1}, {inner, rows_ / inner}};
    return {{rows_ / inner, inner}, {inner, 1}};
  }
  // Columns over registers: in order, backwards by digits, with gaps, further on.
  std::vector<Iter> column_digits() {
    const std::int64_t gap = 1 + tape_.below(3) / 2;
    if (columns_ % 2 == 0 && columns_ > 2 && tape_.one_in(2))
      return {{2, gap}, {columns_ / 2, 2 * gap}};
    return {{columns_, gap}};
  }

  static std::string joined(const std::vector<Iter>& iters, bool is_extent,
                            const std::string& axis) {
    std::string out;
    for (const Iter& each : iters) {
      out += out.empty() ? "" : ", ";
      out += is_extent ? fmt::format("{}", each.extent)
                       : fmt::format("{}{}", each.stride, axis.empty() ? "" : " @ " + axis);
    }
    return out;
  }

  std::string type() {
    static const std::vector<std::string> kTypes = {"float32", "float16", "int32", "int8",
                                                    "uint16"};
    static const std::vector<std::string> kMore = {"float32", "bfloat16", "int32"};
    return has_bfloat_ ? tape_.pick(kMore) : tape_.pick(kTypes);
  }

  void add_tile(std::int64_t number) {
    std::vector<Iter> rows = rows_by_;
    if (number > 0 && rows_ > 1 && tape_.one_in(12)) {
      rows = row_digits();
      out_.is_consistent = false;
    }
    const std::vector<Iter> columns = column_digits();
    std::int64_t slots = 1;
    for (const Iter& each : columns) slots += (each.extent - 1) * each.stride;
    const bool is_twice = number == 0 && tape_.one_in(6);
    const std::int64_t offset = !is_twice && tape_.one_in(4) ? tape_.below(3) : 0;
    const std::string both = rows.empty() ? "" : ", ";
    std::string notation = fmt::format("S[({}{}{}) : ({}{}{})]", joined(rows, true, ""), both,
                                       joined(columns, true, ""), joined(rows, false, axis_), both,
                                       joined(columns, false, ""));
    if (is_twice) notation += fmt::format(" + R[2 : {}]", slots);
    if (offset != 0) notation += fmt::format(" + {}", offset);
    Reg reg{.name = fmt::format("X{}", number), .dtype = type(), .layout = notation};
    reg.shape = {rows_, columns_};
    if (rows_ == 1) reg.shape = {columns_};
    reg.slots = slots * (is_twice ? 2 : 1) + offset;
    if (is_twice) reg.period = slots;
    replicated_.push_back(is_twice);
    out_.chain.regs.push_back(std::move(reg));
  }

  // A number per row, or a row that all threads have.
  void add_stretched() {
    Reg reg{.name = "B", .dtype = type()};
    if (rows_ > 1 && tape_.one_in(2)) {
      reg.shape = {rows_, 1};
      reg.layout = fmt::format("S[({}, 1) : ({}, 1)]", joined(rows_by_, true, ""),
                               joined(rows_by_, false, axis_));
    } else {
      reg.shape = {columns_};
      reg.layout = fmt::format("S[{}]", columns_);
      reg.slots = columns_;
      reg.row = rows_ > 1 ? "0" : "tid";
    }
    has_stretched_ = true;
    out_.chain.regs.push_back(std::move(reg));
  }

  // --- calls ---

  [[nodiscard]] std::size_t tiles() const {
    return out_.chain.regs.size() - (has_stretched_ ? 1 : 0);
  }
  std::string region(std::size_t tile, std::int64_t begin, std::int64_t count) {
    const std::string columns = fmt::format("{}:{}", begin, begin + count);
    return fmt::format("X{}[{}{}]", tile, rows_ > 1 ? fmt::format("0:{}, ", rows_) : "", columns);
  }
  std::size_t any_tile() {
    return static_cast<std::size_t>(tape_.below(static_cast<std::int64_t>(tiles())));
  }
  [[nodiscard]] bool is_real(std::size_t tile) const {
    return out_.chain.regs[tile].dtype.find("float") != std::string::npos;
  }

  // Only `cast` makes integers of floats.
  [[nodiscard]] bool may_read(std::size_t reg) const { return !only_whole_ || !is_real(reg); }
  std::string source() {
    const bool has_row = has_stretched_ && may_read(out_.chain.regs.size() - 1);
    if (has_row && count_ == columns_ && tape_.one_in(4)) return "B";
    if (tape_.one_in(5)) {
      static const std::vector<std::string> kNumbers = {"2", "0.5", "-3", "0.1", "1000"};
      static const std::vector<std::string> kWhole = {"2", "5", "100"};
      return tape_.pick(only_whole_ ? kWhole : kNumbers);
    }
    return tile_source();
  }
  std::string tile_source() {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < tiles(); ++i)
      if (may_read(i)) all.push_back(i);
    const std::size_t tile = tape_.pick(all);
    std::int64_t begin = begin_;
    if (tape_.one_in(6)) begin = tape_.below(columns_ - count_ + 1);
    if (tile == dst_ && (begin != begin_ || replicated_[tile])) out_.may_overlap = true;
    return region(tile, begin, count_);
  }

  void add_call() {
    dst_ = any_tile();
    begin_ = tape_.one_in(3) ? tape_.below(columns_) : 0;
    count_ = begin_ > 0 || tape_.one_in(4) ? 1 + tape_.below(columns_ - begin_) : columns_;
    static const std::vector<std::string> kOfOne = {"abs",   "neg",  "relu", "floor",     "ceil",
                                                    "round", "cast", "sqrt", "reciprocal"};
    std::vector<std::string> ops = {"add",  "sub",   "mul",  "maximum", "minimum", "fma",
                                    "cast", "fill",  "zero", "select",  "abs",     "neg",
                                    "relu", "floor", "ceil", "round",   "clamp",   "where"};
    if (is_real(dst_) && !has_bfloat_) ops.insert(ops.end(), {"fdiv", "sqrt", "reciprocal"});
    const std::string& op = tape_.pick(ops);
    only_whole_ = !is_real(dst_) && op != "cast";
    std::string args = region(dst_, begin_, count_);
    if (op == "fill") args += ", " + std::string(!only_whole_ && tape_.one_in(2) ? "-2.5" : "7");
    if (std::ranges::find(kOfOne, op) != kOfOne.end())
      args += tape_.one_in(8) ? "" : ", " + tile_source();
    if (op == "fma") args += fmt::format(", {}, {}, {}", tile_source(), source(), source());
    if (op == "clamp") args += fmt::format(", {}, {}, {}", tile_source(), source(), source());
    if (op == "where") args += fmt::format(", {}, {}, {}", tile_source(), source(), source());
    if (op == "select") args += fmt::format(", {}, {}, {}", source(), source(), tile_source());
    if (std::find(ops.begin(), ops.begin() + 5, op) != ops.begin() + 5 || op == "fdiv")
      args += tape_.one_in(2) ? fmt::format(", {}, {}", source(), tile_source())
                              : fmt::format(", {}, {}", tile_source(), source());
    out_.chain.calls.push_back(fmt::format("{}{}({})", prefix_, op, args));
  }

  Tape tape_;
  RandomChain out_;
  std::string prefix_, axis_;
  std::int64_t rows_ = 32, columns_ = 4;
  bool has_bfloat_ = false, has_stretched_ = false, only_whole_ = false;
  std::vector<Iter> rows_by_;
  std::vector<bool> replicated_;
  std::size_t dst_ = 0;
  std::int64_t begin_ = 0, count_ = 1;
};

RandomChain random_chain(const Choices& choices) { return Generator(choices).make(); }

std::string rule_of(const Checked& checked) {
  for (std::size_t k = 0; k < checked.report.calls.size(); ++k) {
    const std::string verdict = verdict_on(checked, k, "reg");
    if (verdict.starts_with("[")) return verdict.substr(1, verdict.find(']') - 1);
  }
  return "";
}

bool is_fair_refusal(const RandomChain& made, const Checked& checked) {
  if (checked.stage != Stage::Lower) return false;
  const std::string rule = rule_of(checked);
  if (rule == "owner" || rule == "irregular") return !made.is_consistent;
  return rule == "overlap" && made.may_overlap;
}

Verdict verdict_of(const Choices& choices) {
  const RandomChain made = random_chain(choices);
  const Checked checked = check(program_of(made.chain));
  return Verdict::of(checked, !checked.right() && !is_fair_refusal(made, checked));
}

TEST(RandomElementwise, AgreeOnAllEngines) {
  RandomRun run(400, {4, 200}, {8, 100});
  std::map<std::string, int> ops, rules;
  std::uint64_t right = 0;
  for (std::uint64_t number = 0; number < run.wanted; ++number) {
    const RandomChain made = random_chain(run.choices(number));
    const Checked checked = check(program_of(made.chain));
    if (is_fair_refusal(made, checked)) {
      ++rules[rule_of(checked)];
      continue;
    }
    if (!checked.right()) FAIL() << run.failure(number, checked, verdict_of);
    ++right;
    for (const lower::CallReport& call : checked.report.calls) ++ops[call.op];
    run.add(number, checked);
  }
  fmt::print("{} chains, seed {}, {} right\n", run.wanted, run.seed, right);
  for (const auto& [op, count] : ops) fmt::print("  {:>6} {}\n", count, op);
  for (const auto& [rule, count] : rules) fmt::print("  {:>6} declined: {}\n", count, rule);
  run.finish();
  if (run.wanted < 400) return;
  // The generator should not lose sight of any primitive, nor of what does not fit.
  EXPECT_EQ(ops.size(), 21U);
  EXPECT_GT(right * 10, run.wanted * 7);
  EXPECT_GT(rules["owner"], 0);
}

}  // namespace
}  // namespace ww::test::elementwise_random_test
