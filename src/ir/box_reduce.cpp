// SPDX-License-Identifier: Apache-2.0
#include "ir/box_reduce.h"

#include <algorithm>

#include "ir/settings.h"

namespace ww::ir {
namespace {

using num::DType;

constexpr std::string_view kNames[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
constexpr DType kTypes[] = {DType::Int32,   DType::Uint32,   DType::Int64,   DType::Uint64,
                            DType::Float16, DType::Bfloat16, DType::Float32, DType::Float64};

}  // namespace

std::string_view name_of(BoxReduce op) { return kNames[static_cast<std::size_t>(op)]; }

std::optional<BoxReduce> find_box_reduce(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<BoxReduce>(found - std::begin(kNames));
}

bool takes(BoxReduce op, DType dtype) {
  if (std::ranges::find(kTypes, dtype) == std::end(kTypes)) return false;
  const bool is_float = num::is_float(dtype);
  switch (op) {
    case BoxReduce::Add:
      return dtype != DType::Int64;
    case BoxReduce::Min:
    case BoxReduce::Max:
      return !is_float || num::storage_bits(dtype) == 16;
    case BoxReduce::Inc:
    case BoxReduce::Dec:
      return dtype == DType::Uint32;
    case BoxReduce::And:
    case BoxReduce::Or:
    case BoxReduce::Xor:
      return !is_float && dtype != DType::Int64;
  }
  return false;
}

std::string types_text(BoxReduce op) {
  std::string out;
  for (const DType each : kTypes)
    if (takes(op, each)) out += (out.empty() ? "" : ", ") + std::string(num::name_of(each));
  return out;
}

std::optional<BoxReduce> box_reduce(const TileCall& call) {
  if (call.op != TileOp::CopyAsync) return std::nullopt;
  return find_box_reduce(word_of(find_setting(call, "use_tma_reduce")));
}

}  // namespace ww::ir
