// SPDX-License-Identifier: Apache-2.0
#include "lower/gemm/mma_atoms.h"

#include <algorithm>

#include "isa/catalogue.h"
#include "isa/check.h"

namespace ww::lower {
namespace {

using num::DType;

// The type's name in an opcode; empty: mma has no such factor.
std::string_view factor_name(DType type) {
  switch (type) {
    case DType::Float16:
      return "f16";
    case DType::Bfloat16:
      return "bf16";
    case DType::Float32:
    case DType::Tfloat32:
      return "tf32";
    case DType::Float64:
      return "f64";
    case DType::Int8:
      return "s8";
    case DType::Uint8:
      return "u8";
    case DType::Float8E4M3fn:
      return "e4m3";
    case DType::Float8E5M2:
      return "e5m2";
    case DType::Bool:
    case DType::Int4:
    case DType::Int16:
    case DType::Int32:
    case DType::Int64:
    case DType::Uint4:
    case DType::Uint16:
    case DType::Uint32:
    case DType::Uint64:
    case DType::Float8E8M0:
    case DType::Float6E2M3fn:
    case DType::Float6E3M2fn:
    case DType::Float4E2M1fn:
      return "";
  }
  return "";
}

std::string_view sum_name(DType type) {
  if (type == DType::Float16) return "f16";
  if (type == DType::Float32) return "f32";
  if (type == DType::Float64) return "f64";
  return type == DType::Int32 ? "s32" : "";
}

std::unexpected<Decline> no_such_types(const GemmTypes& types) {
  return decline("dtype", "no mma.sync for A {}, B {}, D {}", num::name_of(types.a),
                 num::name_of(types.b), num::name_of(types.out));
}

}  // namespace

Match<std::vector<MmaAtom>> atoms_of(const GemmTypes& types, bool may_cut, target::Target target) {
  const std::string_view a = factor_name(types.a), b = factor_name(types.b);
  const std::string_view out = sum_name(types.out);
  if (a.empty() || b.empty() || out.empty()) return no_such_types(types);
  std::vector<MmaAtom> atoms;
  std::string missing;
  for (const int octets : {2, 1})
    for (const int groups : {4, 2, 1}) {
      const std::string shape = fmt::format("m{}n8k{}", 8 * octets, 4 * types.per_word() * groups);
      const std::string opcode =
          fmt::format("mma.sync.aligned.{}.row.col.{}.{}.{}.{}", shape, out, a, b, out);
      const isa::Opcode bound = isa::opcode_of(opcode);
      // Without fragments it is several products in one.
      if (bound.forms().empty() || isa::fragments_of(bound.binding()).empty()) continue;
      if (const auto why = isa::missing_on(bound.binding(), target))
        missing = why->text;
      else
        atoms.push_back({.shape = shape, .opcode = opcode, .octets = octets, .groups = groups});
    }
  if (atoms.empty() && missing.empty()) return no_such_types(types);
  if (types.a == DType::Float32 && !may_cut)
    return decline("dtype",
                   "no mma.sync for A float32, B float32, D {}: `allow_tf32=True` permits tf32, "
                   "which drops 13 bits of each factor",
                   num::name_of(types.out));
  if (atoms.empty()) return decline("arch", "{}", missing);
  return atoms;
}

Match<void> check_sizes(const GemmSizes& sizes, const std::vector<MmaAtom>& atoms) {
  int rows = 16, depth = 1 << 20;
  for (const MmaAtom& atom : atoms) {
    rows = std::min(rows, 8 * atom.octets);
    depth = std::min(depth, 4 * sizes.types.per_word() * atom.groups);
  }
  if (sizes.m % rows == 0 && sizes.n % 8 == 0 && sizes.k % depth == 0) return {};
  return decline("shape",
                 "M is {}, N is {}, K is {}; mma.sync of {} takes M by {}, N by 8, K by {}",
                 sizes.m, sizes.n, sizes.k, sizes.types.text(), rows, depth);
}

}  // namespace ww::lower
