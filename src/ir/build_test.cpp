// SPDX-License-Identifier: Apache-2.0
#include "ir/build.h"

#include <gtest/gtest.h>

#include <array>

#include "ir/print/print.h"

namespace ww::ir::build_test {
namespace {

using num::DType;

// An expression of each type to build with: parameters named after their types.
class Build : public testing::Test {
 protected:
  ExprId param(DType dtype, std::uint16_t lanes = 1) {
    Var var;
    var.name = to_text(Type::of(dtype, lanes));
    var.type = Type::of(dtype, lanes);
    var.kind = VarKind::Param;
    return var_ref(f, f.add(std::move(var)));
  }
  // The type of `a + b`, or the kind of the error.
  std::string sum(Operand a, Operand b) {
    const Result<ExprId> out = binary(f, ExprOp::Add, a, b);
    return out ? to_text(f[*out].type) : std::string(name_of(out.error().kind));
  }
  std::string sum(DType a, DType b) { return sum({param(a), false}, {param(b), false}); }
  std::string text(const Result<ExprId>& e) { return e ? print(f, *e) : e.error().text; }

  Function f;
};

TEST_F(Build, MeetsAtTheWiderType) {
  EXPECT_EQ(sum(DType::Int8, DType::Int32), "int32");
  EXPECT_EQ(sum(DType::Uint32, DType::Uint64), "uint64");
  EXPECT_EQ(sum(DType::Float16, DType::Float32), "float32");
  EXPECT_EQ(sum(DType::Int64, DType::Float16), "float16");
  EXPECT_EQ(sum(DType::Int32, DType::Uint32), "int32");
  EXPECT_EQ(sum(DType::Uint16, DType::Int32), "int32");
}

TEST_F(Build, RefusesTypesWithoutACommonOne) {
  EXPECT_EQ(sum(DType::Float16, DType::Bfloat16), "BadType");
  EXPECT_EQ(sum(DType::Float8E4M3fn, DType::Float32), "BadType");
  EXPECT_EQ(sum(DType::Bool, DType::Int32), "BadType");
  EXPECT_EQ(sum(DType::Bool, DType::Bool), "BadType");
}

TEST_F(Build, LiteralsTakeTheOtherType) {
  const Operand five{int_imm(f, DType::Int32, 5), true};
  EXPECT_EQ(text(binary(f, ExprOp::Add, {param(DType::Uint8), false}, five)), "uint8 + T.uint8(5)");
  EXPECT_EQ(text(binary(f, ExprOp::Mul, {param(DType::Float16), false}, five)),
            "float16 * T.float16(5.0)");
  const Operand tenth{float_imm(f, DType::Float64, 0.1), true};
  EXPECT_EQ(text(binary(f, ExprOp::Add, {param(DType::Float64), false}, tenth)),
            "float64 + T.float64(0.1)");
  EXPECT_EQ(text(binary(f, ExprOp::Add, {param(DType::Int32), false}, tenth)),
            "T.Cast(\"float32\", int32) + T.float32(0.1)");
}

TEST_F(Build, LiteralsThatDoNotFitAreRefused) {
  const Operand large{int_imm(f, DType::Int32, 300), true};
  EXPECT_EQ(text(binary(f, ExprOp::Add, {param(DType::Uint8), false}, large)),
            "`+` of `uint8` and the constant 300, which `uint8` does not hold");
  const Operand negative{int_imm(f, DType::Int32, -1), true};
  EXPECT_EQ(sum({param(DType::Uint32), false}, negative), "BadType");
}

TEST_F(Build, FoldsConstantsWithTheirWrapAround) {
  const auto folded = [&](ExprOp op, DType dtype, std::int64_t a, std::int64_t b) {
    return text(binary(f, op, {int_imm(f, dtype, a), false}, {int_imm(f, dtype, b), false}));
  };
  EXPECT_EQ(folded(ExprOp::Add, DType::Uint8, 200, 100), "T.uint8(44)");
  EXPECT_EQ(folded(ExprOp::Mul, DType::Int32, 1 << 20, 1 << 12), "0");
  EXPECT_EQ(folded(ExprOp::FloorDiv, DType::Int32, -7, 2), "-4");
  EXPECT_EQ(folded(ExprOp::FloorMod, DType::Int32, -7, 2), "1");
  EXPECT_EQ(folded(ExprOp::TruncDiv, DType::Int32, -7, 2), "-3");
  EXPECT_EQ(folded(ExprOp::TruncMod, DType::Int32, -7, 2), "-1");
  EXPECT_EQ(folded(ExprOp::FloorDiv, DType::Int32, 1, 0), "division by zero");
  EXPECT_EQ(folded(ExprOp::Shr, DType::Int32, -8, 1), "-4");
  EXPECT_EQ(folded(ExprOp::Shl, DType::Uint8, 255, 4), "T.uint8(240)");
  EXPECT_EQ(folded(ExprOp::Lt, DType::Uint32, 1, -1), "T.bool(True)");
  EXPECT_EQ(folded(ExprOp::Max, DType::Uint64, 1, -1), "T.uint64(18446744073709551615)");
}

TEST_F(Build, RoundsFloatConstantsToTheirType) {
  EXPECT_EQ(text(float_imm(f, DType::Float16, 0.1)), "T.float16(0.1)");
  const Result<ExprId> sum = binary(f, ExprOp::Add, {float_imm(f, DType::Float16, 2048), false},
                                    {float_imm(f, DType::Float16, 1), false});
  EXPECT_EQ(text(sum), "T.float16(2048.0)");
}

TEST_F(Build, ConvertsConstantsByValue) {
  const auto as = [&](ExprId e, DType to) { return text(cast(f, e, Type::of(to))); };
  EXPECT_EQ(as(float_imm(f, DType::Float32, -2.9), DType::Int32), "-2");
  EXPECT_EQ(as(float_imm(f, DType::Float32, 1e20), DType::Int8), "T.int8(127)");
  EXPECT_EQ(as(int_imm(f, DType::Int32, 257), DType::Uint8), "T.uint8(1)");
  EXPECT_EQ(as(int_imm(f, DType::Int32, 4099), DType::Float16), "T.float16(4100.0)");
  EXPECT_EQ(as(int_imm(f, DType::Int32, 3), DType::Bool), "T.bool(True)");
}

TEST_F(Build, OperatorsSayWhatTheyTake) {
  const ExprId i = param(DType::Int32);
  const ExprId x = param(DType::Float32);
  EXPECT_EQ(text(binary(f, ExprOp::Div, {i, false}, {i, false})), "`/` of `int32`");
  EXPECT_EQ(text(binary(f, ExprOp::FloorDiv, {x, false}, {x, false})), "`//` of `float32`");
  EXPECT_EQ(text(binary(f, ExprOp::BitAnd, {x, false}, {x, false})), "`&` of `float32`");
  EXPECT_EQ(text(unary(f, ExprOp::BitNot, {x, false})), "`~` of `float32`");
}

TEST_F(Build, ConditionsCompareIntegersWithZero) {
  EXPECT_EQ(text(condition(f, param(DType::Int32))), "int32 != 0");
  EXPECT_EQ(text(condition(f, param(DType::Bool))), "bool");
  EXPECT_EQ(text(condition(f, param(DType::Float32))),
            "a condition of type `float32`, expected `bool` or an integer");
}

TEST_F(Build, ScalarsMeetVectorsByBroadcast) {
  EXPECT_EQ(sum({param(DType::Float32, 4), false}, {param(DType::Float32), false}), "float32x4");
  EXPECT_EQ(sum({param(DType::Float32, 4), false}, {param(DType::Float32, 2), false}), "BadType");
}

TEST_F(Build, ReinterpretKeepsTheBits) {
  EXPECT_EQ(text(reinterpret(f, param(DType::Float32), Type::of(DType::Uint32))),
            "T.reinterpret(\"uint32\", float32)");
  EXPECT_EQ(text(reinterpret(f, param(DType::Float16), Type::of(DType::Uint32))),
            "cannot read the bits of `float16` as `uint32`: the widths differ");
}

TEST_F(Build, ChecksIndicesOfLoads) {
  Buffer buffer;
  buffer.name = "A";
  buffer.shape = {int_imm(f, DType::Int32, 8), int_imm(f, DType::Int32, 4)};
  const BufferId a = f.add(std::move(buffer));
  const auto at = [&](std::initializer_list<std::int64_t> indices, int lanes = 1) {
    std::vector<ExprId> ids;
    for (const std::int64_t i : indices) ids.push_back(int_imm(f, DType::Int32, i));
    return text(load(f, a, ids, lanes));
  };
  EXPECT_EQ(at({7, 3}), "A[7, 3]");
  EXPECT_EQ(at({8, 0}), "index 8 in dimension 0 of `A`, which has extent 8");
  EXPECT_EQ(at({0, -1}), "index -1 in dimension 1 of `A`, which has extent 4");
  EXPECT_EQ(at({0, 2}, 4), "index 5 in dimension 1 of `A`, which has extent 4");
  EXPECT_EQ(at({0}), "1 index for `A`, which has 2 dimensions");
  // As lowering writes it, where a condition keeps it from running.
  const ExprId eight = int_imm(f, DType::Int32, 8), zero = int_imm(f, DType::Int32, 0);
  EXPECT_EQ(text(load(f, a, std::array{eight, zero}, 1, {}, Bounds::Guarded)), "A[8, 0]");
}

TEST_F(Build, CallsCheckTheirArguments) {
  const ExprId x = param(DType::Float32);
  const ExprId i = param(DType::Int32);
  const auto called = [&](Intrinsic callee, std::vector<ExprId> args) {
    return text(call(f, callee, args));
  };
  EXPECT_EQ(called(Intrinsic::Exp, {x}), "T.exp(float32)");
  EXPECT_EQ(called(Intrinsic::Exp, {i}), "`T.exp` of `int32`, expected a float");
  EXPECT_EQ(called(Intrinsic::Exp, {x, x}), "`T.exp` with 2 arguments, expected 1");
  EXPECT_EQ(called(Intrinsic::Popcount, {x}),
            "`value` of `T.popcount` is `float32`, expected an integer");
  EXPECT_EQ(called(Intrinsic::AtomicAdd, {i, i}),
            "`pointer` of `T.cuda.atomic_add` is `int32`, expected a pointer into global or shared "
            "memory");
}

TEST(TypeText, ReadsBackWhatItPrints) {
  for (const Type type :
       {Type::of(DType::Float16), Type::of(DType::Float32, 4), Type::of(DType::Int8, 16)})
    EXPECT_EQ(parse_value_type(to_text(type)).value(), type);
  EXPECT_EQ(parse_value_type("float16x1").value(), Type::of(DType::Float16));
  EXPECT_EQ(parse_value_type("flot32").error().kind, DiagKind::UnknownName);
}

TEST(Tables, NamesAreUniqueAndFound) {
  for (const IntrinsicFacts& row : all_intrinsics())
    EXPECT_EQ(find_intrinsic(row.name), row.id) << row.name;
  for (const std::string_view name : all_tile_op_names())
    EXPECT_EQ(name_of(*find_tile_op(name)), name);
  EXPECT_EQ(params_of(TileOp::Gemm).size(), 8U);
  EXPECT_EQ(params_of(TileOp::Gemm)[6].kind, TileParamKind::Float);
  EXPECT_FALSE(params_of(TileOp::Exp)[1].required);
}

// "?": may be left out.
std::string text_of(const TileParam& param) {
  constexpr std::string_view kKinds[] = {"region", "either", "scalar", "bool",
                                         "flag",   "float",  "int"};
  return fmt::format("{}{}{} {}", param.name, param.default_text.empty() ? "" : "=",
                     param.default_text.empty() && !param.required ? "?" : param.default_text,
                     kKinds[static_cast<std::size_t>(param.kind)]);
}
std::string params_text(TileOp op) {
  std::string out;
  for (const TileParam& param : params_of(op)) out += (out.empty() ? "" : ", ") + text_of(param);
  return out;
}

TEST(Tables, ParametersOfTilePrimitives) {
  EXPECT_EQ(params_text(TileOp::Gemm),
            "D region, A region, B region, C region, transpose_A=False bool, transpose_B=False "
            "bool, alpha=1.0 float, beta=0.0 float");
  EXPECT_EQ(params_text(TileOp::Exp), "dst region, src? region, bias? either, scale? scalar");
  EXPECT_EQ(params_text(TileOp::Fma), "dst region, a either, b either, c either");
  EXPECT_EQ(params_text(TileOp::Sum), "dst region, src region, axes=-1 int, accum=False bool");
  EXPECT_EQ(params_text(TileOp::Fill), "dst region, value scalar");
}

TEST(Function, ANodeThatIsNotThereIsABug) {
  const Function f;
  EXPECT_THROW(static_cast<void>(f[ExprId{}]), BugError);
  EXPECT_THROW(static_cast<void>(f[StmtId{0}]), BugError);
}

}  // namespace
}  // namespace ww::ir::build_test
