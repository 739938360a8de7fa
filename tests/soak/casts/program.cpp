// SPDX-License-Identifier: Apache-2.0
#include "soak/casts/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "soak/frame.h"

namespace ww::test {
namespace {

using num::DType;
using Texts = std::vector<std::string>;

// Those of 4 bits that are integers are copied, not computed with.
std::vector<DType> cast_types() {
  std::vector<DType> out;
  for (const DType type : num::all_dtypes())
    if (type != DType::Int4 && type != DType::Uint4) out.push_back(type);
  return out;
}

/// Where the elements are while they are cast.
struct Way {
  std::string name;
  std::string body;  // of the kernel; {n}: elements of a CTA, {each}: of a thread
};

const std::vector<Way>& tile_ways() {
  static const std::vector<Way> ways = {
      {"memory", "    Tx.cta.cast(D[{at} : {at} + {n}], A[{at} : {at} + {n}]{settings})\n"},
      {"registers", R"(    rows = TileLayout(S[({threads}, {each}) : (1 @ tx, 1)])
    a = T.alloc_buffer(({n},), "{from}", scope="local", layout=rows)
    d = T.alloc_buffer(({n},), "{to}", scope="local", layout=rows)
    Tx.cta.copy(a, A[{at} : {at} + {n}])
    Tx.cta.cast(d, a{settings})
    Tx.cta.copy(D[{at} : {at} + {n}], d)
)"},
      {"warps", R"(    w = T.warp_id([{threads} // 32])
    rows = TileLayout(S[{striped}])
    a = T.alloc_buffer((32 * {each},), "{from}", scope="local", layout=rows)
    d = T.alloc_buffer((32 * {each},), "{to}", scope="local", layout=rows)
    at: T.let = {at} + w * (32 * {each})
    Tx.warp.copy(a, A[at : at + 32 * {each}])
    Tx.warp.cast(d, a{settings})
    Tx.warp.copy(D[at : at + 32 * {each}], d)
)"},
      {"shared memory", R"(    a = T.alloc_buffer(({n},), "{from}", scope="shared")
    d = T.alloc_buffer(({n},), "{to}", scope="shared")
    Tx.cta.copy(a, A[{at} : {at} + {n}])
    T.cuda.cta_sync()
    Tx.cta.cast(d, a{settings})
    T.cuda.cta_sync()
    Tx.cta.copy(D[{at} : {at} + {n}], d)
)"},
      {"threads", R"(    a = T.alloc_buffer(({each},), "{from}", scope="local")
    d = T.alloc_buffer(({each},), "{to}", scope="local")
    at: T.let = {at} + t * {each}
    Tx.copy(a, A[at : at + {each}])
    Tx.cast(d, a{settings})
    Tx.copy(D[at : at + {each}], d)
)"}};
  return ways;
}
const Way kScalars{"scalars", R"(    for i in range({each}):
        at: T.let = {at} + t * {each} + i
        D[at] = T.cast(A[at], "{to}")
)"};

class CastMaker {
 public:
  explicit CastMaker(Tape& tape) : tape_(tape), target_(choose_target(tape)) {}

  WholeProgram make() {
    choose_cast();
    choose_shape();
    const Way& way = choose_way();
    WholeProgram out;
    out.program = {.source = source_of(way), .target = target_};
    out.cast = cast_;
    out.program.seed = 1 + static_cast<std::uint64_t>(tape_.below(1'000'000));
    const auto count = static_cast<std::size_t>(ctas_ * threads_ * each_);
    out.program.arrays["A"] = array_units(cast_.from, cast_inputs(cast_, count, out.program.seed));
    out.program.has_any_nan = true;
    ++out.steps["casts: in " + way.name];
    ++out.steps[fmt::format("casts: from {}", num::name_of(cast_.from))];
    ++out.steps[fmt::format("casts: into {}", num::name_of(cast_.to))];
    return out;
  }

 private:
  void choose_cast() {
    static const std::vector<DType> types = cast_types();
    cast_.from = tape_.pick(types);
    cast_.to = tape_.pick(types);
    cast_.round = tape_.pick(Texts{"", "", "rn", "rz", "rm", "rp", "rna"});
    cast_.saturate =
        tape_.pick(std::vector<std::optional<bool>>{std::nullopt, std::nullopt, true, true, false});
  }

  // All codes of a type come at least once.
  void choose_shape() {
    threads_ = tape_.pick<std::int64_t>({128, 32, 64, 256});
    each_ = tape_.pick<std::int64_t>({8, 1, 2, 3, 4, 5, 7, 12});
    if (is_packed() && each_ % 2 != 0) ++each_;
    const int bits = num::bits_of(cast_.from);
    const std::int64_t wanted = bits <= 8 ? 256 : bits <= 16 ? 65536 : 4096;
    ctas_ = (wanted + threads_ * each_ - 1) / (threads_ * each_);
  }
  // Two elements in a byte.
  [[nodiscard]] bool is_packed() const {
    return num::bits_of(cast_.from) == 4 || num::bits_of(cast_.to) == 4;
  }

  // Neighbours are in different lanes, but for those that share a byte.
  [[nodiscard]] std::string striped() const {
    return is_packed() ? fmt::format("({}, 32, 2) : (2, 1 @ laneid, 1)", each_ / 2)
                       : fmt::format("({}, 32) : (1, 1 @ laneid)", each_);
  }

  const Way& choose_way() {
    const bool makes_powers = cast_.to == DType::Float8E8M0 && cast_.from != cast_.to;
    const bool has_scalars = !is_packed() && !makes_powers && cast_.settings().empty();
    const auto count = std::ssize(tile_ways());
    const std::int64_t which = tape_.below(has_scalars ? count + 1 : count);
    return which == count ? kScalars : tile_ways()[static_cast<std::size_t>(which)];
  }

  [[nodiscard]] std::string source_of(const Way& way) const {
    const std::int64_t part = threads_ * each_;
    const std::string body =
        fmt::format(fmt::runtime(way.body), fmt::arg("at", fmt::format("cta * {}", part)),
                    fmt::arg("n", part), fmt::arg("threads", threads_), fmt::arg("each", each_),
                    fmt::arg("striped", striped()), fmt::arg("from", num::name_of(cast_.from)),
                    fmt::arg("to", num::name_of(cast_.to)), fmt::arg("settings", cast_.settings()));
    return fmt::format(R"(from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import S, TileLayout, laneid, tx

@T.prim_func
def kernel(A: T.Buffer(({0},), "{1}"), D: T.Buffer(({0},), "{2}")):
    T.device_entry()
    cta = T.cta_id([{3}])
    t = T.thread_id([{4}])
{5})",
                       ctas_ * part, num::name_of(cast_.from), num::name_of(cast_.to), ctas_,
                       threads_, body);
  }

  Tape& tape_;
  std::string target_;
  Cast cast_;
  std::int64_t threads_ = 0, each_ = 0, ctas_ = 0;
};

}  // namespace

WholeProgram cast_program(Tape& tape) { return CastMaker(tape).make(); }

}  // namespace ww::test
