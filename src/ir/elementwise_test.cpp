// SPDX-License-Identifier: Apache-2.0
#include "ir/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "ir/build.h"
#include "ir/simplify/fold.h"
#include "ir/test_programs.h"

namespace ww::ir::elementwise_test {
namespace {

using num::DType;
using test::Builder;

// The type for a destination and operands of these types, and further arguments.
DType type_for(TileOp op, const std::vector<DType>& types,
               const std::function<std::vector<TileArg>(Builder&)>& more = {}) {
  Builder b("k");
  TileCall call;
  call.op = op;
  for (const DType type : types)
    call.args.emplace_back(b.full(b.alloc("x", {4}, type, Scope::Local)));
  if (more)
    for (TileArg& arg : more(b)) call.args.push_back(std::move(arg));
  call.args.resize(std::max(call.args.size(), params_of(op).size()));
  return compute_type(b.f, call);
}
std::function<std::vector<TileArg>(Builder&)> real(DType type, double value) {
  return [=](Builder& b) { return std::vector<TileArg>{TileArg(float_imm(b.f, type, value))}; };
}
std::function<std::vector<TileArg>(Builder&)> whole(std::int64_t value) {
  return
      [=](Builder& b) { return std::vector<TileArg>{TileArg(int_imm(b.f, DType::Int32, value))}; };
}
std::function<std::vector<TileArg>(Builder&)> runtime(DType type) {
  return [=](Builder& b) {
    return std::vector<TileArg>{TileArg(b.var(b.param("s", Type::of(type))))};
  };
}

TEST(ComputeType, OneTypeIsKept) {
  for (const DType type : {DType::Float16, DType::Bfloat16, DType::Float32, DType::Float64,
                           DType::Int32, DType::Uint8, DType::Int64})
    EXPECT_EQ(type_for(TileOp::Add, {type, type, type}), type) << num::name_of(type);
}

TEST(ComputeType, SeveralTypesMeetInSingleOrDouble) {
  using enum DType;
  EXPECT_EQ(type_for(TileOp::Mul, {Float16, Float32, Float32}), Float32);
  EXPECT_EQ(type_for(TileOp::Mul, {Float32, Float16, Bfloat16}), Float32);
  EXPECT_EQ(type_for(TileOp::Mul, {Float16, Float16, Bfloat16}), Float32);
  EXPECT_EQ(type_for(TileOp::Mul, {Float32, Float32, Float64}), Float64);
  EXPECT_EQ(type_for(TileOp::Mul, {Float64, Float32, Float32}), Float64);
  EXPECT_EQ(type_for(TileOp::Mul, {Int32, Int32, Float16}), Float32);
  EXPECT_EQ(type_for(TileOp::Mul, {Float8E4M3fn, Float8E4M3fn, Float8E4M3fn}), Float32);
  EXPECT_EQ(type_for(TileOp::Fma, {Float16, Float32, Float16, Float16}), Float32);
}

TEST(ComputeType, IntegersComputeInTheDestinationsType) {
  using enum DType;
  EXPECT_EQ(type_for(TileOp::Add, {Int32, Int8, Uint16}), Int32);
  EXPECT_EQ(type_for(TileOp::Sub, {Int8, Int32, Int32}), Int8);
  EXPECT_EQ(type_for(TileOp::Add, {Int8, Int8}, whole(1000)), Int8);
  EXPECT_EQ(type_for(TileOp::Mul, {Int32, Int32}, real(Float32, 0.5)), Float32);
}

TEST(ComputeType, ComparisonsDoNotAskTheDestination) {
  using enum DType;
  EXPECT_EQ(type_for(TileOp::Less, {Bool, Float16, Float16}), Float16);
  EXPECT_EQ(type_for(TileOp::Less, {Bool, Float16, Float32}), Float32);
  EXPECT_EQ(type_for(TileOp::Less, {Bool, Float8E4M3fn, Float8E4M3fn}), Float32);
  EXPECT_EQ(type_for(TileOp::Less, {Bool, Int32, Float64}), Float64);
  EXPECT_EQ(type_for(TileOp::Equal, {Bool, Int8, Int8}), Int8);
  EXPECT_EQ(type_for(TileOp::Equal, {Bool, Int8, Uint8}), Int64);
  EXPECT_EQ(type_for(TileOp::Equal, {Bool, Bool, Bool}), Int32);
  EXPECT_EQ(type_for(TileOp::Equal, {Bool, Int8}, whole(127)), Int8);
  EXPECT_EQ(type_for(TileOp::Equal, {Bool, Int8}, whole(128)), Int64);
  EXPECT_EQ(type_for(TileOp::Less, {Bool, Float16}, real(Float32, 0.5)), Float16);
  EXPECT_EQ(type_for(TileOp::Less, {Bool, Float16}, real(Float32, 0.1)), Float32);
  EXPECT_EQ(type_for(TileOp::LogicalAnd, {Bool, Int32, Float32}), Bool);
}

TEST(ComputeType, FunctionsOfNumbersAndBits) {
  using enum DType;
  EXPECT_EQ(type_for(TileOp::Abs, {Float16, Float16}), Float16);
  EXPECT_EQ(type_for(TileOp::Floor, {Float16, Float32}), Float32);
  EXPECT_EQ(type_for(TileOp::Neg, {Int32, Int8}), Int32);
  EXPECT_EQ(type_for(TileOp::Tanh, {Float16, Float16}), Float32);
  EXPECT_EQ(type_for(TileOp::Pow, {Float16, Float16, Float16}), Float32);
  EXPECT_EQ(type_for(TileOp::BitwiseAnd, {Int8, Int32, Int32}), Int8);
  EXPECT_EQ(type_for(TileOp::Clamp, {Float16, Float16, Float16, Float16}), Float16);
}

TEST(ComputeType, ConstantsThatFitDoNotCount) {
  using enum DType;
  EXPECT_EQ(type_for(TileOp::Mul, {Float16, Float16}, real(Float32, 0.5)), Float16);
  EXPECT_EQ(type_for(TileOp::Mul, {Float16, Float16}, real(Float32, 0.1)), Float32);
  EXPECT_EQ(type_for(TileOp::Add, {Float16, Float16}, whole(2048)), Float16);
  EXPECT_EQ(type_for(TileOp::Add, {Float16, Float16}, whole(2049)), Float32);
  EXPECT_EQ(type_for(TileOp::Mul, {Float32, Float32}, real(Float64, 0.5)), Float32);
  EXPECT_EQ(type_for(TileOp::Mul, {Float32, Float32}, real(Float64, 0.1)), Float64);
  EXPECT_EQ(type_for(TileOp::Mul, {Float16, Float16}, runtime(Float32)), Float32);
  EXPECT_EQ(type_for(TileOp::Mul, {Float16, Float16}, runtime(Float16)), Float16);
}

TEST(ComputeType, FunctionsComputeInSingleOrDouble) {
  using enum DType;
  EXPECT_EQ(type_for(TileOp::Exp, {Float16, Float16}), Float32);
  EXPECT_EQ(type_for(TileOp::Sqrt, {Float32, Int32}), Float32);
  EXPECT_EQ(type_for(TileOp::Sqrt, {Float64, Float16}), Float64);
  EXPECT_EQ(type_for(TileOp::Silu, {Bfloat16}), Float32);  // in place
}

TEST(Elementwise, OperandsInTheOrderOfTheirMeaning) {
  TileCall call;
  call.op = TileOp::Sqrt;
  call.args.resize(4);
  call.args[0] = Region{};
  EXPECT_EQ(operands_of(call), (std::vector<const TileArg*>{&call.args[0], nullptr, nullptr}));
  call.args[1] = Region{};
  call.args[2] = Setting(1.0);  // bias
  call.args[3] = Setting(2.0);  // scale
  EXPECT_EQ(operands_of(call),
            (std::vector<const TileArg*>{&call.args[1], &call.args[3], &call.args[2]}));
  call.op = TileOp::Zero;
  EXPECT_TRUE(operands_of(call).empty());
}

// As the conversions of the hardware do, at run time.
TEST(Fold, ConversionsToNarrowFloatsSaturate) {
  using enum DType;
  const auto converted = [](double value, DType to) {
    return convert({Float32, 0, value}, to).real;
  };
  EXPECT_EQ(converted(1000, Float8E4M3fn), 448);
  EXPECT_EQ(converted(-1e6, Float8E5M2), -57344);
  EXPECT_EQ(converted(INFINITY, Float8E5M2), 57344);
  EXPECT_EQ(convert({Int32, 1000, 0}, Float8E4M3fn).real, 448);
  EXPECT_EQ(converted(1e6, Float16), INFINITY);
}

}  // namespace
}  // namespace ww::ir::elementwise_test
