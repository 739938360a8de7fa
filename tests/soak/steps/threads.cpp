// SPDX-License-Identifier: Apache-2.0
// Code of single threads: on their registers of a tile, on a tile of their own, with scalars.
#include <fmt/format.h>

#include "soak/steps.h"

namespace ww::test {
namespace {

constexpr std::int64_t kThreadElements = 8;  // of `priv`

bool threads_fit(const Draft&, const Place&) { return true; }

void begin_threads(Draft& draft) {
  draft.thread_type = draft.tape.pick(std::vector<std::string>{"float32", "int32", "float16"});
  draft.text.line({}, "priv = T.alloc_buffer(({},), \"{}\", scope=\"local\")", kThreadElements,
                  draft.thread_type);
  draft.text.line({}, "Tx.fill(priv, 3)");
}

void mirror_registers(Draft& draft, const Place& at) {
  const RegTile& reg = any_work(draft);
  draft.text.line(at, "for i in range({}):", reg.slots);
  draft.text.line(at, "    {0}_r[i] = {0}_r[i] + {0}_r[{1} - i]", reg.name, reg.slots - 1);
}

void load_own(Draft& draft, const Place& at) {
  const std::string name = draft.text.fresh("a");
  draft.text.param(name, tuple({draft.f.ctas, draft.f.threads, kThreadElements}),
                   draft.thread_type);
  draft.text.line(at, "Tx.copy(priv[0:{0}], {1}[cta, tid, 0:{0}])", kThreadElements, name);
}

void store_own(Draft& draft, const Place& at) {
  const std::string name = draft.text.fresh("o");
  auto [extents, index] = per_turn(draft, at);
  extents.insert(extents.end(), {draft.f.threads, kThreadElements});
  draft.text.param(name, tuple(extents), draft.thread_type);
  draft.text.line(at, "Tx.copy({}[{}tid, 0:{}], priv[0:{}])", name, index, kThreadElements,
                  kThreadElements);
}

// A loop that ends at different times, and registers at an index of run time.
void halve(Draft& draft, const Place& at) {
  const std::string x = draft.text.fresh("x");
  draft.text.line(at, "{}: T.int32 = tid + p0", x);
  draft.text.line(at, "while {} > {}:", x, 3 + draft.tape.below(20));
  draft.text.line(at, "    {0} = {0} // 2", x);
  draft.text.line(at, "priv[{0} % {1}] = {0}", x, kThreadElements);
}

void write_threads(Draft& draft, const Place& at) {
  switch (draft.tape.below(5)) {
    case 0:
      return mirror_registers(draft, at);
    case 1:
      return load_own(draft, at);
    case 2:
      return draft.text.line(at, "Tx.{}(priv, priv, 3)",
                             draft.tape.pick(std::vector<std::string>{"add", "maximum", "mul"}));
    case 3:
      return halve(draft, at);
    default:
      return store_own(draft, at);
  }
}

// Loops whose rounds become vectors: from an input into `priv` and to an output, from the first element
// on or a later one.
void write_vectorized(Draft& draft, const Place& at) {
  const std::string from = draft.text.fresh("a"), to = draft.text.fresh("o");
  auto [extents, index] = per_turn(draft, at);
  const std::int64_t begin = draft.tape.one_in(3) ? 1 + draft.tape.below(4) : 0;
  const std::int64_t rounds = draft.tape.one_in(3) ? 1 + draft.tape.below(kThreadElements - begin)
                                                   : kThreadElements - begin;
  extents.insert(extents.end(), {draft.f.threads, kThreadElements});
  draft.text.param(from, tuple(extents), draft.thread_type);
  draft.text.param(to, tuple(extents), draft.thread_type);
  const std::string at_v = begin == 0 ? "v" : fmt::format("v + {}", begin);
  const std::string there = fmt::format("{}[{}tid, {}]", from, index, at_v);
  const std::string value =
      draft.tape.one_in(2) ? there : fmt::format("priv[{}] + {}", at_v, there);
  draft.text.line(at, "for v in T.vectorized({}):", rounds);
  draft.text.line(at, "    priv[{}] = {}", at_v, value);
  if (draft.tape.one_in(2)) draft.text.line(at, "for v in T.vectorized({}):", rounds);
  draft.text.line(at, "    {}[{}tid, {}] = priv[{}]", to, index, at_v,
                  draft.tape.one_in(3) ? at_v : fmt::format("{} - v", begin + rounds - 1));
}

}  // namespace

const Step kVectorized{.name = "vectorized loops",
                       .is_of_thread = true,
                       .fits = threads_fit,
                       .write = write_vectorized};

const Step kThreadCode{.name = "code of single threads",
                       .is_of_thread = true,
                       .fits = threads_fit,
                       .write = write_threads,
                       .begin = begin_threads};

}  // namespace ww::test
