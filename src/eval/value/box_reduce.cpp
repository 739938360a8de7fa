// SPDX-License-Identifier: Apache-2.0
#include "eval/value/box_reduce.h"

namespace ww::eval {

Word reduce_box(ir::BoxReduce op, num::DType type, Word old, Word value) {
  const auto with = [&](ir::ExprOp by) {
    Word out = 0;
    binary(by, type, {&old, 1}, {&value, 1}, {&out, 1});
    return out;
  };
  switch (op) {
    case ir::BoxReduce::Add:
      return with(ir::ExprOp::Add);
    case ir::BoxReduce::Min:
      return with(ir::ExprOp::Min);
    case ir::BoxReduce::Max:
      return with(ir::ExprOp::Max);
    case ir::BoxReduce::Inc:
      return old >= value ? 0 : old + 1;
    case ir::BoxReduce::Dec:
      return old == 0 || old > value ? value : old - 1;
    case ir::BoxReduce::And:
      return old & value;
    case ir::BoxReduce::Or:
      return old | value;
    case ir::BoxReduce::Xor:
      return old ^ value;
  }
  return value;
}

}  // namespace ww::eval
