// SPDX-License-Identifier: Apache-2.0
// The operations of cp.reduce.async.bulk and red.async on elements in memory. Other units may
// combine into the same global memory at the same time, so the host's atomics are used.
#include <atomic>
#include <cstring>

#include "sim/ops/async_ops.h"
#include "sim/ops/atomic_values.h"
#include "sim/ops/tensor_ops.h"

namespace ww::sim {
namespace {

template <typename T, auto F>
void combine(std::byte* at, const std::byte* with) {
  T b;
  std::memcpy(&b, with, sizeof b);
  if (reinterpret_cast<std::uintptr_t>(at) % sizeof(T) != 0) {  // reported where that is checked
    T value;
    std::memcpy(&value, at, sizeof value);
    value = F(value, b);
    std::memcpy(at, &value, sizeof value);
    return;
  }
  std::atomic_ref<T> place(*reinterpret_cast<T*>(at));
  T old = place.load(std::memory_order_relaxed);
  while (!place.compare_exchange_weak(old, F(old, b), std::memory_order_relaxed)) {
  }
}

}  // namespace

isa::Type combined_type(TensorType type, Word operation) {
  const bool is_bitwise = operation.is_one_of({"and", "or", "xor"});
  const bool counts = operation.is_one_of({"inc", "dec"});
  if (counts && type != TensorType::U32) return isa::Type::Pred;
  if (type == TensorType::S64 && !operation.is_one_of({"min", "max"})) return isa::Type::Pred;
  if (is_bitwise && info(type).is_float) return isa::Type::Pred;
  switch (type) {
    case TensorType::U32:
      return is_bitwise ? isa::Type::B32 : isa::Type::U32;
    case TensorType::S32:
      return is_bitwise ? isa::Type::B32 : isa::Type::S32;
    case TensorType::U64:
      return is_bitwise ? isa::Type::B64 : isa::Type::U64;
    case TensorType::S64:
      return is_bitwise ? isa::Type::B64 : isa::Type::S64;
    case TensorType::F16:
      return isa::Type::F16;
    case TensorType::Bf16:
      return isa::Type::Bf16;
    case TensorType::F32:
    case TensorType::F32Ftz:
    case TensorType::Tf32:
    case TensorType::Tf32Ftz:
      return operation == "add" ? isa::Type::F32 : isa::Type::Pred;
    case TensorType::F64:
      return operation == "add" ? isa::Type::F64 : isa::Type::Pred;
    default:
      return isa::Type::Pred;  // nothing combines these
  }
}

void combine_f32_add_unflushed(std::byte* at, const std::byte* with) {
  combine<std::uint32_t, add_f32>(at, with);
}

Combine pick_combine(Word op, isa::Type type) {
  return pick_operation(
      op, type, []<typename T, auto F>()->Combine { return combine<T, F>; });
}

}  // namespace ww::sim
