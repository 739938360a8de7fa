// SPDX-License-Identifier: Apache-2.0
// Small kernels for the tests of this folder: built by hand, run with arrays of numbers.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "eval/eval.h"
#include "eval/value/arithmetic.h"
#include "ir/test_programs.h"

namespace ww::eval::test {

using ir::BufferId;
using ir::ExprId;
using ir::ExprOp;
using ir::Intrinsic;
using ir::Scope;
using ir::TileOp;
using ir::Unit;
using num::DType;

using Numbers = std::vector<double>;

/// 0, 1, 2, …
inline Numbers count_to(std::size_t n, double first = 0, double step = 1) {
  Numbers out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(first + step * static_cast<double>(i));
  return out;
}

inline std::vector<std::byte> pack(DType type, const Numbers& numbers) {
  const auto bits = static_cast<std::size_t>(storage_bits(type));
  std::vector<std::byte> out((numbers.size() * bits + 7) / 8);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Word word = from_real(type, numbers[i]);
    if (bits < 8)
      out[i / 2] |= static_cast<std::byte>(word << (i % 2 * 4));
    else
      std::memcpy(out.data() + i * bits / 8, &word, bits / 8);
  }
  return out;
}

inline Numbers unpack(DType type, const std::vector<std::byte>& bytes) {
  const auto bits = static_cast<std::size_t>(storage_bits(type));
  Numbers out;
  for (std::size_t i = 0; i < bytes.size() * 8 / bits; ++i) {
    Word word = 0;
    if (bits < 8)
      word = static_cast<Word>(bytes[i / 2]) >> (i % 2 * 4) & 15;
    else
      std::memcpy(&word, bytes.data() + i * bits / 8, bits / 8);
    out.push_back(as_real(type, word));
  }
  return out;
}

struct Outcome {
  Report report;
  std::vector<Numbers> arrays;  // by parameter

  /// "race, uninit", in the order they were found.
  [[nodiscard]] std::string checks() const {
    std::string out;
    for (const Finding& finding : report.findings)
      out += (out.empty() ? "" : ", ") + std::string(name_of(finding.check));
    return out;
  }
  [[nodiscard]] std::string text() const {
    return report.findings.empty() ? "" : report.findings.front().text;
  }
};

/// A kernel over one-dimensional thread ids. Parameters first, then `start`, then the body.
class TestKernel : public ir::test::Builder {
 public:
  ir::VarId tid_var;
  ir::VarId cta_var;

  void start(std::int64_t threads, std::int64_t ctas = 1) {
    f.has_device_entry = true;
    cta_var = id(ir::ScopeIdKind::CtaId, "bx", ctas);
    tid_var = id(ir::ScopeIdKind::ThreadId, "tid", threads);
  }
  ExprId tid() { return var(tid_var); }
  ExprId cta() { return var(cta_var); }
  ExprId eq(ExprId a, std::int64_t b) { return op(ExprOp::Eq, a, n(b)); }
  ExprId lt(ExprId a, std::int64_t b) { return op(ExprOp::Lt, a, n(b)); }
  ExprId to(DType type, ExprId value) { return ir::cast(f, value, ir::Type::of(type)).value(); }
  ExprId text(std::string t) { return ir::text_imm(f, std::move(t)); }

  /// Instead of `end`: the block opened by `when` is repeated while its condition holds.
  void end_while() { f.at(end()).kind = ir::StmtKind::While; }
  /// Between the arms of a condition; `end_otherwise` closes the second one.
  void otherwise() {
    first_arm_ = end();
    when(f[first_arm_].expr);
  }
  void end_otherwise() {
    const ir::StmtId second = end();
    f.at(first_arm_).other = std::move(f.at(second).body);
    f.at(second).body.clear();
  }
  void leave(ir::StmtKind kind) { stmt({.kind = kind}); }

  ir::Region part(BufferId buffer, std::vector<std::pair<ExprId, std::int64_t>> ranges) {
    ir::Region region;
    region.buffer = buffer;
    for (const auto& [min, extent] : ranges) region.ranges.push_back({min, n(extent)});
    return region;
  }

  /// An empty list of numbers: memory that nothing has written.
  Result<Outcome> try_run(const std::vector<Numbers>& inputs, const Options& options = {}) {
    const ir::Function function = done();
    std::vector<std::vector<std::byte>> bytes(inputs.size());
    std::vector<Argument> arguments;
    std::vector<DType> types;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const BufferId buffer = ir::buffer_of_param(function, i);
      if (!buffer.valid()) {
        types.push_back(function[function.params[i].var].type.dtype);
        arguments.emplace_back(ScalarArg{from_real(types.back(), inputs[i][0])});
        continue;
      }
      types.push_back(function[buffer].dtype);
      Numbers numbers = inputs[i];
      std::vector<std::int64_t> shape;
      if (const auto constant = ir::const_shape(function, function[buffer])) {
        std::size_t size = 1;
        for (const std::int64_t extent : *constant) size *= static_cast<std::size_t>(extent);
        numbers.resize(size);
      } else {
        shape = {static_cast<std::int64_t>(numbers.size())};
      }
      bytes[i] = pack(types[i], numbers);
      arguments.emplace_back(BufferArg{&bytes[i], shape, !inputs[i].empty()});
    }
    auto report = eval::run(function, std::move(arguments), options);
    if (!report) return std::move(report).failure();
    Outcome out{.report = *std::move(report), .arrays = {}};
    for (std::size_t i = 0; i < inputs.size(); ++i)
      out.arrays.push_back(unpack(types[i], bytes[i]));
    return out;
  }
  Outcome run(const std::vector<Numbers>& inputs, const Options& options = {}) {
    auto out = try_run(inputs, options);
    if (!out) throw std::runtime_error(out.error().text);
    return *std::move(out);
  }

 private:
  ir::StmtId first_arm_;
};

/// One warp applies an op to shared tiles: parameter 0 is the destination, the others are operands.
class OpKernel : public TestKernel {
 public:
  std::vector<BufferId> params;
  void arrays(const std::vector<std::pair<std::vector<std::int64_t>, DType>>& shapes) {
    for (std::size_t i = 0; i < shapes.size(); ++i)
      params.push_back(matched("p" + std::to_string(i), shapes[i].first, shapes[i].second));
    start(32);
  }
  ir::Region all(std::size_t i) { return full(params[i]); }
};

}  // namespace ww::eval::test
