// SPDX-License-Identifier: Apache-2.0
// permute_layout: a tile in shared memory from an input, put into another layout by all threads of a
// CTA, there or where it is, and to an output.
#include <fmt/format.h>

#include "soak/steps.h"

namespace ww::test {
namespace {

constexpr std::int64_t kRows = 32;

std::int64_t columns_of(const Draft& draft) {
  return draft.f.threads % 32 == 0 ? draft.f.threads / 8 : 0;
}

bool permute_fits(const Draft& draft, const Place& at) {
  return draft.permuted && !at.is_split && !at.is_thread;
}

std::string layout_of(Draft& draft, std::int64_t columns) {
  const std::string shape = fmt::format("({}, {})", kRows, columns);
  switch (draft.tape.below(3)) {
    case 0:
      return fmt::format("TileLayout(S[{} : ({}, 1)])", shape, columns);
    case 1:
      return fmt::format("TileLayout(S[{} : (1, {})])", shape, kRows);
    default:
      return fmt::format("ComposeLayout(2, 1, 2, TileLayout(S[{} : ({}, 1)]))", shape, columns);
  }
}

// Two layouts; the second may be one of the same memory.
void declare_permute(Draft& draft) {
  const std::int64_t columns = columns_of(draft);
  // The data of what a pool gives begins where the pool does.
  if (columns == 0 || draft.f.has_pool || !draft.tape.one_in(4)) return;
  const std::string dtype =
      draft.tape.pick(std::vector<std::string>{"float32", "int32", "float16", "int8", "float64"});
  const std::int64_t bytes = kRows * columns * bits_of(dtype) / 8;
  const bool is_in_place = draft.tape.one_in(2);
  if (!add_bytes(draft, "turning", bytes) ||
      (!is_in_place && !add_bytes(draft, "elsewhere", bytes)))
    return;
  draft.permuted = dtype;
  for (const std::string name : {"before", "after"}) {
    const std::string memory = name == "before" || is_in_place ? "turning" : "elsewhere";
    draft.text.line({},
                    "{} = T.decl_buffer(({}, {}), \"{}\", data={}.data, scope=\"{}\", layout={})",
                    name, kRows, columns, dtype, memory, draft.f.has_pool ? "shared.dyn" : "shared",
                    layout_of(draft, columns));
  }
}

void write_permute(Draft& draft, const Place& at) {
  const std::int64_t columns = columns_of(draft);
  const std::string from = draft.text.fresh("a"), to = draft.text.fresh("o");
  auto [extents, index] = per_turn(draft, at);
  extents.insert(extents.end(), {kRows, columns});
  draft.text.param(from, tuple(extents), *draft.permuted);
  draft.text.param(to, tuple(extents), *draft.permuted);
  const std::string whole = fmt::format("{}0:{}, 0:{}", index, kRows, columns);
  sync_all(draft, at);
  draft.text.line(at, "Tx.cta.copy(before, {}[{}])", from, whole);
  draft.text.line(at, "T.cuda.cta_sync()");
  draft.text.line(at, "Tx.cta.permute_layout(after, before)");
  draft.text.line(at, "T.cuda.cta_sync()");
  draft.text.line(at, "Tx.cta.copy({}[{}], after)", to, whole);
  draft.text.line(at, "T.cuda.cta_sync()");
}

}  // namespace

const Step kPermute{.name = "permute_layout",
                    .fits = permute_fits,
                    .write = write_permute,
                    .declare = declare_permute};

}  // namespace ww::test
