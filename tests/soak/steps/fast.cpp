// SPDX-License-Identifier: Apache-2.0
// Functions with `fast=True`, which come near: into a tile of their own that goes to outputs alone, so
// that errors do not grow. A program with one is compared within the error that is stated.
#include "soak/steps.h"

namespace ww::test {
namespace {

void declare_fast(Draft& draft) {
  if (!draft.tape.one_in(4)) return;
  const RegLayout layout = tile_layout(draft, "float32");
  draft.fast = RegTile{.name = "fast", .dtype = "float32", .shape = draft.f.tile};
  draft.text.line({}, "fast = T.alloc_buffer({}, \"float32\", scope=\"local\", layout={})",
                  tuple(draft.f.tile), layout.text);
}

void begin_fast(Draft& draft) {
  if (draft.fast) draft.text.line({}, "{}zero(fast)", draft.f.prefix());
}

bool fast_fits(const Draft& draft, const Place&) { return draft.fast.has_value(); }

void write_fast(Draft& draft, const Place& at) {
  const RegTile& dst = *draft.fast;
  const Columns c = any_columns(draft, draft.f.tile);
  const std::string op = draft.tape.pick(
      std::vector<std::string>{"tanh", "sigmoid", "exp2", "sqrt", "reciprocal", "rsqrt", "silu"});
  const RegTile src = any_work(draft);
  if (src.dtype == "float64") return;  // PTX has no functions of it
  const std::string from = region_of(src, c);
  draft.text.line(at, "{}{}({}, {}, fast=True)", draft.f.prefix(), op, region_of(dst, c), from);
  draft.is_fast = true;
}

void finish_fast(Draft& draft) {
  if (draft.fast) store(draft, {}, *draft.fast);
}

}  // namespace

const Step kFast{.name = "fast functions",
                 .fits = fast_fits,
                 .write = write_fast,
                 .declare = declare_fast,
                 .begin = begin_fast,
                 .finish = finish_fast};

}  // namespace ww::test
