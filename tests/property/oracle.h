// SPDX-License-Identifier: Apache-2.0
// The enumerating oracle: what layouts and their operations mean, by definition and by brute force.
//
// It shares no code with src/layout. It reads a layout's public parts into plain structs of its own
// and evaluates them element by element; every operation is described by the *table* its result
// must have, and every "there is no answer" is decided by an exhaustive search of its own. Slow and
// obvious.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "layout/layout.h"

namespace ww::test {

using Ints = std::vector<std::int64_t>;

/// A value per axis; values of 0 are left out, so that an absent axis and an axis at 0 are the
/// same.
using Place = std::map<std::string, std::int64_t>;
/// All the places of one element.
using Places = std::set<Place>;
/// The places of every element, by flat index.
using Table = std::vector<Places>;

struct OIter {
  std::int64_t extent = 1;
  std::int64_t stride = 1;
  std::string axis = "m";
  friend bool operator==(const OIter&, const OIter&) = default;
};

struct OSwizzle {
  int per_element = 0;
  int len = 0;
  int atom = 0;
  bool inner = true;
  friend bool operator==(const OSwizzle&, const OSwizzle&) = default;
};

struct OLayout {
  std::vector<OIter> shard = {};
  std::vector<OIter> replica = {};
  std::map<std::string, std::int64_t> offset = {};
  OSwizzle swizzle = {};
  friend bool operator==(const OLayout&, const OLayout&) = default;
};

/// Values of the symbols in an offset, by name.
using Symbols = std::map<std::string, std::int64_t>;

// ---- Reading and printing -----------------------------------------------------------------------

/// Reads the public parts; offset terms are evaluated with `symbols`, a `?` extent becomes
/// `unknown`.
OLayout read(const layout::Layout& layout, const Symbols& symbols = {}, std::int64_t unknown = 1);
/// The value of an expression, from its public terms.
std::int64_t value_of(const layout::Expr& expr, const Symbols& symbols);
/// Notation that the command line accepts.
std::string notation(const OLayout& layout);
std::string text(const Place& place);
std::string text(const Places& places);
std::string text(const Ints& values);

// ---- Numbers ------------------------------------------------------------------------------------

std::int64_t floor_quotient(std::int64_t a, std::int64_t b);
std::int64_t floor_remainder(std::int64_t a, std::int64_t b);
std::int64_t product(const Ints& values);
std::int64_t flat_of(const Ints& coordinate, const Ints& shape);
Ints coordinate_of(std::int64_t flat, const Ints& shape);
Ints extents_of(const std::vector<OIter>& iters);

// ---- The map ------------------------------------------------------------------------------------

std::int64_t size_of(const OLayout& layout);
/// Moves the place along an axis; an axis at 0 is not in it.
void put(Place& place, const std::string& axis, std::int64_t amount);
/// The place with its address in memory swizzled.
void swizzle_place(const OSwizzle& swizzle, Place& place);
/// Every digit vector below the extents, in row-major order.
void for_each_digits(const Ints& extents, const std::function<void(const Ints&)>& visit);
/// The XOR swizzle, written with division and remainder.
std::int64_t swizzled(const OSwizzle& swizzle, std::int64_t address);
/// Places of an element named by one digit per shard iter.
Places places_of_digits(const OLayout& layout, const Ints& digits);
Places places_at(const OLayout& layout, std::int64_t flat);
/// The same with every replica digit at 0.
Place place_at_replica_0(const OLayout& layout, std::int64_t flat);
Table table_of(const OLayout& layout);
/// Smallest and largest value on an axis over a table.
std::pair<std::int64_t, std::int64_t> range_on(const Table& table, const std::string& axis);
/// All axes with a value other than 0 somewhere.
std::set<std::string> axes_of(const Table& table);

/// Nothing if the tables agree, else a sentence with the first element that differs.
std::optional<std::string> difference(const Table& got, const Table& want);

// ---- What operations mean -----------------------------------------------------------------------

Places sum_of(const Places& a, const Places& b);
/// Element y of the region is element y + begin of the whole.
Table slice_meaning(const OLayout& layout, const Ints& shape, const Ints& begin,
                    const Ints& extent);
/// Element (o, i) is f·D_outer(o) + O_outer + R_outer + L_inner(i), f the inner's reach per axis:
/// one past its largest place, counted from its smallest where that is negative. Before the
/// swizzle, if there is one.
Table tile_meaning(const OLayout& inner, const Ints& inner_shape, const OLayout& outer,
                   const Ints& outer_shape, bool scale_places);
/// Element (a_0, b_0, a_1, b_1, …) is A(a) + B(b).
Table direct_sum_meaning(const OLayout& a, const Ints& a_shape, const OLayout& b,
                         const Ints& b_shape);
/// a(b(x)), all replicas; nothing when b leaves [0, a.size()) or uses several axes.
std::optional<Table> compose_meaning(const OLayout& a, const OLayout& b);
/// For every place of the box (row-major in the order given) the elements held there.
struct Side {
  std::string axis;
  std::int64_t first = 0;
  std::int64_t extent = 1;
};
std::vector<std::set<std::int64_t>> holders(const Table& table, const std::vector<Side>& box);
/// Dimensions in the order p.
Table permute_dims_meaning(const OLayout& layout, const Ints& shape, const Ints& p);
/// Element n·x + k is n·L(x) + k on `axis`.
Table unpack_meaning(const OLayout& layout, std::int64_t n, const std::string& axis);

// ---- Thread axes on CUDA ------------------------------------------------------------------------

/// value = (t / divisor) % modulus (modulus 0: none) of the linear thread id.
struct ThreadDigits {
  std::int64_t divisor = 1;
  std::int64_t modulus = 0;
};
std::optional<ThreadDigits> thread_digits(const std::string& axis);
/// The same places with all CTA thread axes added up to the linear thread id, under the key
/// `thread`.
Table on_threads(const Table& table);
/// Does every CTA thread axis stay inside its range?
bool threads_in_range(const Table& table);
/// Splits the values of `whole` by a factor into two axes.
Table split_axis(const Table& table, const std::string& whole, const std::string& outer,
                 const std::string& inner, std::int64_t factor);

// ---- Does an answer exist? ----------------------------------------------------------------------

/// Is there a tile layout (shard, replica, offset) with exactly this table?
bool is_tile_table(const Table& table);
/// The same under a swizzle on `m`.
bool is_tile_table_under(const Table& table, const OSwizzle& swizzle);
/// Is the table f(0) + a sum of functions of one coordinate each?
bool is_additive(const Table& table, const Ints& shape);
/// Is the set reachable by a replica list and an offset?
bool is_replica_set(const Places& places);
/// The only set C with A + C = [0, extent), each number once, if there is one.
std::optional<std::set<std::int64_t>> interval_complement(const std::set<std::int64_t>& a,
                                                          std::int64_t extent);

}  // namespace ww::test
