// SPDX-License-Identifier: Apache-2.0
// Tiles in any order of the bits of lanes and registers, with replicas on either side: `shfl` takes
// them all, and its code is proven. Faults in the code of `smem` are found.
#include "lower/convert/exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "lower/proof/test_copies.h"

namespace ww::lower::convert_exchange_test {
namespace {

using num::DType;
using test::CopyCase;
using test::WrittenCopy;

using Random = std::mt19937;

int below(Random& random, int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

// A tile of 2^bits elements, bit after bit: in lanes, in registers; `same` bits of the lane do not
// matter.
std::string layout_of(Random& random, int bits, int same) {
  std::vector<std::string> strides, lanes;
  for (int b = 0; b < 5; ++b) lanes.push_back(fmt::format("{}@laneid", 1 << b));
  std::ranges::shuffle(lanes, random);
  std::string replicas;
  for (int k = 0; k < same; ++k) {
    replicas += fmt::format("{}2:{}", k == 0 ? "" : ",", lanes.back());
    lanes.pop_back();
  }
  strides = lanes;
  for (int b = 0; b < bits - std::ssize(lanes); ++b) strides.push_back(fmt::format("{}", 1 << b));
  std::ranges::shuffle(strides, random);
  std::string extents, text;
  for (const std::string& stride : strides) {
    extents += extents.empty() ? "2" : ",2";
    text += (text.empty() ? "" : ",") + stride;
  }
  std::string out = fmt::format("S[({}):({})]", extents, text);
  if (same == 0) return out;
  const auto colon = [&](char what) {
    std::string part;
    for (std::size_t i = 0, depth = 0; i < replicas.size(); ++i) {
      if (replicas[i] == ',')
        depth = 0, part += ',';
      else if (replicas[i] == ':')
        depth = 1;
      else if ((depth == 0) == (what == 'e'))
        part += replicas[i];
    }
    return part;
  };
  return out + (same == 1 ? fmt::format(" + R[{}]", replicas)
                          : fmt::format(" + R[({}):({})]", colon('e'), colon('s')));
}

CopyCase any_case(Random& random) {
  constexpr DType kTypes[] = {DType::Uint8, DType::Float16, DType::Float32, DType::Float64};
  const int to_same = below(random, 3), from_same = below(random, 3);
  const int bits = 5 + below(random, 4);
  CopyCase out{.variant = "shfl", .shape = {}, .dst = {}, .src = {}};
  out.dtype = kTypes[below(random, 4)];
  out.shape = {std::int64_t{1} << bits};
  out.dst = layout_of(random, bits, to_same);
  out.src_scope = ir::Scope::Local;
  out.src = layout_of(random, bits, from_same);
  return out;
}

TEST(Exchange, AnyOrderOfBits) {
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    const CopyCase c = any_case(random);
    const WrittenCopy w(c);
    ASSERT_EQ(w.reason, "") << name_of(c);
    const Proof proof = w.prove();
    ASSERT_TRUE(proof.holds()) << name_of(c) << ": " << proof.difference << proof.could_not;
  }
}

// --- planted faults ---

CopyCase across_warps() {
  return {.variant = "smem",
          .unit = ir::Unit::Cta,
          .dtype = DType::Float32,
          .shape = {64, 4},
          .dst_scope = ir::Scope::Local,
          .dst = "S[(4,16,4):(1,4@tx,1@tx)]",
          .src_scope = ir::Scope::Local,
          .src = "S[(64,4):(1@tx,1)]",
          .threads = 64};
}

// Before the stores, for what is still read; and between stores and loads.
TEST(Smem, EveryBarrierIsNeeded) {
  WrittenCopy w(across_warps());
  ASSERT_TRUE(w.prove().holds());
  int barriers = 0;
  const ir::Block whole = w.code;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const ir::Stmt& s = w.f[whole[i]];
    if (s.kind != ir::StmtKind::Evaluate || w.f[s.expr].callee != ir::Intrinsic::CtaSync) continue;
    w.code = whole;
    w.code.erase(w.code.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_NE(w.prove().difference.find("barrier"), std::string::npos) << w.prove().difference;
    ++barriers;
  }
  EXPECT_EQ(barriers, 2);
}

}  // namespace
}  // namespace ww::lower::convert_exchange_test
