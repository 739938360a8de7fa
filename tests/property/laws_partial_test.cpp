// SPDX-License-Identifier: Apache-2.0
// Layouts that are only partly known: an offset that is a runtime value, a first extent that is
// `?`. Every operation either refuses them or gives what it would give for each constant that may
// turn up; and none throws, hangs or overflows on them, or on layouts at the edge of what is
// representable.
#include <gtest/gtest.h>

#include "layout/algebra.h"
#include "layout/apply.h"
#include "layout/banks.h"
#include "layout/canonical.h"
#include "layout/direct_sum.h"
#include "layout/group.h"
#include "layout/image.h"
#include "layout/slice.h"
#include "layout/text.h"
#include "layout/threads.h"
#include "layout/tile.h"
#include "layout/views.h"
#include "property/laws.h"

namespace ww::test::laws_partial_test {
namespace {

using layout::Layout;
using layout::Machine;

/// An operation on one layout over a 2-D shape; the other operands are fixed.
struct Op {
  const char* name;
  std::function<Result<Layout>(const Layout&, const Ints&)> run;
  bool renames_threads = false;
};

Result<Layout> grouped(const Layout& l, const Ints& shape) {
  auto got = layout::group(l, shape);
  if (!got) return fail(got.error());
  return got->layout;
}

Result<Layout> grouped_many(const Layout& l, const Ints& shape) {
  const std::vector<layout::Shape> shapes = {shape_of(shape), shape_of(shape)};
  auto got = layout::group_many(l, shapes);
  if (!got) return fail(got.error());
  return got->layout;
}

Result<Layout> inverted(const Layout& l, const Ints&) {
  auto got = layout::inverse(l);
  if (!got) return fail(got.error());
  return got->map;
}

/// Columns from the second on; all the rows where their number is known, else the first.
Result<Layout> sliced(const Layout& l, const Ints& shape) {
  const std::int64_t rows = shape[0] == layout::kUnknownExtent ? 1 : shape[0];
  const std::vector<layout::Slice1> region = {{0, rows}, {1, shape[1] - 1}};
  return layout::slice(l, shape, region);
}

Result<Layout> reversed_iters(const Layout& l, const Ints&) {
  Ints order;
  for (std::size_t k = l.tile().shard().size(); k-- > 0;)
    order.push_back(static_cast<std::int64_t>(k));
  return layout::permute_iters(l, order);
}

Ints doubled(const Ints& shape) {
  Ints out = shape;
  for (std::int64_t& e : out) e = e == layout::kUnknownExtent ? e : 2 * e;
  return out;
}

const std::vector<Op>& all_ops() {
  static const Ints k22 = {2, 2};
  static const auto fixed = [](const char* text) { return parsed(text); };
  static const std::vector<Op> kOps = {
      {"canonicalize",
       [](const Layout& l, const Ints&) -> Result<Layout> { return layout::canonicalize(l); }},
      {"group", grouped},
      {"group_many", grouped_many},
      {"slice", sliced},
      {"permute_iters", reversed_iters},
      {"permute_dims",
       [](const Layout& l, const Ints& s) {
         return layout::permute_dims(l, s, Ints{1, 0});
       }},
      {"storage", [](const Layout& l, const Ints&) { return layout::storage(l); }},
      {"unpack", [](const Layout& l, const Ints&) { return layout::unpack(l, 2); }},
      {"pack", [](const Layout& l, const Ints&) { return layout::pack(l, 2); }},
      {"broadcast", [](const Layout& l, const Ints&) { return layout::broadcast(l, 3); }},
      {"broadcast in front",
       [](const Layout& l, const Ints&) { return layout::broadcast(l, 3, 0); }},
      {"tile as inner",
       [](const Layout& l, const Ints& s) {
         return layout::tile(l, s, fixed("S[(2,2):(2,1)]"), k22);
       }},
      {"tile as outer",
       [](const Layout& l, const Ints& s) {
         return layout::tile(fixed("S[(2,2):(1@laneid,1)]"), k22, l, s);
       }},
      {"tile, scaled",
       [](const Layout& l, const Ints& s) {
         return layout::tile(fixed("S[(2,2):(2,1)]"), k22, l, s, {.scale_places = true});
       }},
      {"tile_to", [](const Layout& l, const Ints& s) { return layout::tile_to(l, doubled(s), s); }},
      {"outer_of_tile",
       [](const Layout& l, const Ints& s) {
         return layout::outer_of_tile(l, s, fixed("S[(1,2):(2,1)]"), Ints{1, 2});
       }},
      {"inner_of_tile",
       [](const Layout& l, const Ints& s) {
         return layout::inner_of_tile(l, s, fixed("S[(1,2):(2,1)]"), Ints{1, 2});
       }},
      {"direct_sum left",
       [](const Layout& l, const Ints& s) {
         return layout::direct_sum(l, s, fixed("S[(2,2):(64@laneid,32@laneid)]"), k22);
       }},
      {"direct_sum right",
       [](const Layout& l, const Ints& s) {
         return layout::direct_sum(fixed("S[(2,2):(2@TCol,1@TCol)]"), k22, l, s);
       }},
      {"left_of_sum",
       [](const Layout& l, const Ints& s) {
         return layout::left_of_sum(l, Ints{s[0], 1, s[1] / 2, 2}, fixed("S[(1,2):(2,1)]"),
                                    Ints{1, 2});
       }},
      {"right_of_sum",
       [](const Layout& l, const Ints& s) {
         return layout::right_of_sum(l, Ints{1, s[0], 2, s[1] / 2}, fixed("S[2:2]"), Ints{1, 2});
       }},
      {"fuse_threads",
       [](const Layout& l, const Ints&) -> Result<Layout> {
         return layout::fuse_threads(l, Machine::Cuda);
       },
       true},
      {"split_threads",
       [](const Layout& l, const Ints&) {
         return layout::split_threads(l, axis_named("tx"), axis_named("warpid"),
                                      axis_named("laneid"));
       },
       true},
      {"split_like",
       [](const Layout& l, const Ints&) {
         return layout::split_like(l, fixed("S[32:1@laneid]"), Machine::Cuda);
       },
       true},
      {"compose, first",
       [](const Layout& l, const Ints&) { return layout::compose(l, fixed("S[(2,2):(2,1)]")); }},
      {"compose, second",
       [](const Layout& l, const Ints&) {
         return layout::compose(fixed("S[(32,8):(1@laneid,32@laneid)]"), l);
       }},
      {"inverse", inverted},
      {"complement",
       [](const Layout& l, const Ints&) {
         return layout::complement(l, std::vector<layout::BoxSide>{{layout::axes::m(), 0, 64}});
       }},
      {"right_divide, whole",
       [](const Layout& l, const Ints&) {
         return layout::right_divide(l, fixed("S[(2,8):(1,2)]"));
       }},
      {"right_divide, divisor",
       [](const Layout& l, const Ints&) {
         return layout::right_divide(fixed("S[(2,8):(8,1)]"), l);
       }},
      {"divide, whole",
       [](const Layout& l, const Ints&) { return layout::divide(l, fixed("S[2:2]")); }},
      {"divide, tiler",
       [](const Layout& l, const Ints&) { return layout::divide(fixed("S[64:1]"), l); }}};
  return kOps;
}

Table shown(const Op& op, const OLayout& parts) {
  return op.renames_threads ? on_threads(table_of(parts)) : table_of(parts);
}

// ---- Runtime offsets ----------------------------------------------------------------------------

/// A layout with a symbol k in its offset, and the same with k replaced.
struct Symbolic {
  const char* text;
  Ints shape;
  std::string with(std::int64_t k) const {
    std::string out = text;
    for (auto at = out.find("{k}"); at != std::string::npos; at = out.find("{k}"))
      out.replace(at, 3, fmt::format("{}", k));
    return out;
  }
};

const std::vector<Symbolic>& symbolic_layouts() {
  static const std::vector<Symbolic> kLayouts = {
      {"S[(2,8):(8,1)] + 16*{k}", {2, 8}},
      {"S[(2,8):(8,1)] + {k}", {2, 8}},
      {"S[(2,8):(8,1)] + {k}@laneid", {2, 8}},
      {"S[(2,4,2):(4@laneid,1@laneid,1)] + {k}@laneid + 2", {2, 8}},
      {"S[(2,4,2):(1@warpid,1@laneid,1)] + {k}@warpid + 3@laneid", {2, 8}},
      {"S[(2,8):(16@tx,1)] + (32*{k})@tx", {2, 8}},
      {"S[(2,8):(16@tx,1)] + {k}@tx", {2, 8}},
      {"S[(2,8):(8,1)] + R[2:16] + (32*{k} + 4)", {2, 8}},
      {"S[(2,8):(8,1)] + R[2:-16@warpid] + (2 - {k})", {2, 8}},
      {"ComposeLayout(1,1,2, S[(2,8):(8,1)] + 16*{k})", {2, 8}},
      {"ComposeLayout(1,1,2, S[(2,8):(8,1)] + {k})", {2, 8}},
      {"S[(2,8):(8,1)] + ({k}//2) + ({k}%2)@laneid", {2, 8}}};
  return kLayouts;
}

TEST(LawsPartial, RuntimeOffsetsGiveWhatEveryConstantGives) {
  layout::Names names = declared_names();
  names.symbols.emplace("k", layout::Sym::make("k", {0, 3}).value());
  int answered = 0;
  for (const Symbolic& symbolic : symbolic_layouts()) {
    std::string with_symbol = symbolic.text;
    for (auto at = with_symbol.find("{k}"); at != std::string::npos; at = with_symbol.find("{k}"))
      with_symbol.replace(at, 3, "k");
    const auto l = layout::parse_layout(with_symbol, names);
    ASSERT_TRUE(l) << with_symbol << ": " << l.error().text;
    for (const Op& op : all_ops()) {
      SCOPED_TRACE(fmt::format("{} of {}", op.name, with_symbol));
      Result<Layout> got = fail(DiagKind::NeedsConstant, "not run");
      ASSERT_NO_THROW(got = op.run(*l, symbolic.shape));
      if (!got) continue;
      ++answered;
      for (std::int64_t k = 0; k <= 3; ++k) {
        const auto constant = layout::parse_layout(symbolic.with(k), declared_names());
        ASSERT_TRUE(constant) << symbolic.with(k) << ": " << constant.error().text;
        const auto want = op.run(*constant, symbolic.shape);
        ASSERT_TRUE(want) << "answered for k, refused for k = " << k << ": " << want.error().text;
        EXPECT_EQ(difference(shown(op, read(*got, {{"k", k}})), shown(op, read(*want))),
                  std::nullopt)
            << "k = " << k << ": " << notation(read(*got, {{"k", k}})) << " and "
            << notation(read(*want));
      }
    }
  }
  EXPECT_GT(answered, 100);
}

// ---- Unknown first extents ----------------------------------------------------------------------

TEST(LawsPartial, UnknownExtentsGiveWhatEveryExtentGives) {
  int answered = 0;
  for (const std::string text :
       {"S[({},8):(8,1)]", "S[({},4,2):(16,2,1)] + 5", "S[({},4,2):(4@laneid,1@laneid,1)]",
        "S[({},8):(1@warpid,1)] + R[2:8]", "S[({},8):(32@tx,1)]",
        "S[({},2,8):(8@laneid,3@warpid,1@laneid)]", "ComposeLayout(1,1,2, S[({},8):(8,1)])",
        "S[({},8):(0,1)]", "S[({},8):(-8,1)]"}) {
    const auto with = [&](const std::string& extent) {
      std::string out = text;
      out.replace(out.find("{}"), 2, extent);
      return out;
    };
    const auto l = layout::parse_layout(with("?"));
    if (!l) continue;  // a swizzle over what may be negative is refused right away
    const std::int64_t cols = text.find("2,8)") != std::string::npos ? 16 : 8;
    for (const Op& op : all_ops()) {
      SCOPED_TRACE(fmt::format("{} of {}", op.name, with("?")));
      Result<Layout> got = fail(DiagKind::NeedsConstant, "not run");
      ASSERT_NO_THROW(got = op.run(*l, {layout::kUnknownExtent, cols}));
      if (!got) continue;
      ++answered;
      for (std::int64_t n = 1; n <= 4; ++n) {
        const Layout constant = parsed(with(fmt::format("{}", n)));
        const auto want = op.run(constant, {n, cols});
        ASSERT_TRUE(want) << "answered for ?, refused for " << n << ": " << want.error().text;
        if (std::string(op.name) == "slice") {  // one row of an unknown number, all of a known one
          const Table row = slice_meaning(read(constant), {n, cols}, {0, 1}, {1, cols - 1});
          EXPECT_EQ(difference(table_of(read(*got)), row), std::nullopt);
          continue;
        }
        // `?` may have swallowed its neighbours; what counts is the map over the elements there
        // are.
        const Table expected = shown(op, read(*want));
        Table seen = shown(op, read(*got, {}, 64 * n));
        ASSERT_GE(seen.size(), expected.size());
        seen.resize(expected.size());
        EXPECT_EQ(difference(seen, expected), std::nullopt)
            << n << ": " << layout::to_text(*got) << " and " << notation(read(*want));
      }
    }
  }
  EXPECT_GT(answered, 30);
}

/// Questions, not layouts: they must answer or refuse, never throw.
void ask_everything(const Layout& l) {
  const layout::Axis m = layout::axes::m();
  EXPECT_NO_THROW(static_cast<void>(layout::to_text(l)));
  EXPECT_NO_THROW(static_cast<void>(layout::same_places(l, l)));
  EXPECT_NO_THROW(static_cast<void>(layout::same_places(l, parsed("S[16:1]"))));
  EXPECT_NO_THROW(static_cast<void>(layout::is_trivial(l)));
  EXPECT_NO_THROW(static_cast<void>(layout::span_on(l, m)));
  EXPECT_NO_THROW(static_cast<void>(layout::memory_span(l)));
  EXPECT_NO_THROW(static_cast<void>(layout::require_constant(l, "a test")));
  EXPECT_NO_THROW(static_cast<void>(layout::thread_scope(l)));
  EXPECT_NO_THROW(static_cast<void>(layout::apply(l, 3)));
  EXPECT_NO_THROW(static_cast<void>(layout::apply(l, std::int64_t{1} << 62)));
  EXPECT_NO_THROW(static_cast<void>(layout::apply_all(l, 3)));
  EXPECT_NO_THROW(static_cast<void>(layout::apply(l, Ints{0, 3}, Ints{2, 8})));
  EXPECT_NO_THROW(static_cast<void>(layout::apply(l, Ints{0, 3}, Ints{layout::kUnknownExtent, 8})));
  EXPECT_NO_THROW(static_cast<void>(layout::elements_at(l, {{m, 3}})));
  EXPECT_NO_THROW(static_cast<void>(layout::access_cost(l, parsed("S[32:1]"), 32, 1, 16)));
  EXPECT_NO_THROW(static_cast<void>(layout::access_cost(parsed("S[64:1]"), l, 8, 2, 16)));
}

TEST(LawsPartial, QuestionsAboutPartlyKnownLayouts) {
  layout::Names names = declared_names();
  names.symbols.emplace("k", layout::Sym::make("k", {0, 3}).value());
  for (const char* text :
       {"S[(?,8):(8,1)]", "S[?:1@laneid]", "ComposeLayout(1,1,2, S[(?,8):(8,1)])",
        "S[(2,8):(8,1)] + 16*k", "S[(?,8):(8,1)] + k@warpid",
        "ComposeLayout(1,1,2, S[(2,8):(8,1)] + k)"}) {
    SCOPED_TRACE(text);
    const Layout l = layout::parse_layout(text, names).value();
    ask_everything(l);
    EXPECT_NO_THROW(static_cast<void>(layout::enumerate(l)));
    EXPECT_NO_THROW(static_cast<void>(layout::image_facts(l)));
    EXPECT_NO_THROW(static_cast<void>(layout::is_injective(l)));
  }
}

// ---- The edge of the representable --------------------------------------------------------------

TEST(LawsPartial, HugeLayoutsAreAnsweredOrRefusedAtOnce) {
  for (const char* text :
       {"S[(34359738368,8):(8,1)]", "S[(68719476736,2):(1152921504606846,1)]",
        "S[2:1152921504606846976]", "S[2:-1152921504606846976]", "S[4:1] + 1152921504606846970",
        "S[(4,2):(288230376151711744,1)] + R[2:4]", "S[(137438953472,2):(2,1)] + 7@laneid",
        "S[274877906944:1]", "S[(2,8):(1152921504606846@tx,1@tx)]",
        "S[(4,4):(1,4)] + 1152921504606846900@laneid", "R[274877906944:1]",
        "S[(65536,8):(8,1)] + R[65536:1@warpid]"}) {
    SCOPED_TRACE(text);
    const auto l = layout::parse_layout(text);
    if (!l) continue;
    ask_everything(*l);
    EXPECT_NO_THROW(static_cast<void>(layout::enumerate(*l)));
    EXPECT_NO_THROW(static_cast<void>(layout::image_facts(*l)));
    for (const Op& op : all_ops()) {
      SCOPED_TRACE(op.name);
      const std::int64_t n = l->size();
      for (const Ints& shape : {Ints{n / 2 == 0 ? 1 : n / 2, n % 2 == 0 ? 2 : 1}, Ints{1, n}}) {
        Result<Layout> got = fail(DiagKind::TooLarge, "not run");
        ASSERT_NO_THROW(got = op.run(*l, shape));
        if (got) {
          EXPECT_TRUE(layout::TileLayout::make(got->tile().shard(), got->tile().replica(),
                                               got->tile().offset()))
              << "an invalid layout: " << layout::to_text(*got);
        }
      }
    }
    for (const std::int64_t n :
         {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40, std::int64_t{1} << 62}) {
      EXPECT_FALSE(layout::unpack(*l, n));
      EXPECT_FALSE(layout::pack(*l, n));
      EXPECT_FALSE(layout::broadcast(*l, n));
    }
  }
}

}  // namespace
}  // namespace ww::test::laws_partial_test
