// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/names.h"

#include <memory>
#include <numeric>
#include <utility>

#include "layout/apply.h"
#include "layout/image.h"

namespace ww::lower {

/// The elements of a buffer with an explicit layout. Entry `copy * size + element` of `at` and
/// `keys` is for one copy of a replicated element. Both are empty for a layout of memory that is too large
/// for tables: its places are computed where a region needs them.
struct LayoutPlaces {
  layout::Layout layout;
  std::int64_t size = 0;
  std::int64_t copies = 1;
  std::vector<std::int64_t> at;    // in memory, or in a thread's registers, or in a lane
  std::vector<std::int64_t> keys;  // the lane, or what the thread axes of a holder add up to
  std::vector<layout::Axis> axes;  // thread axes that make up the keys of registers
};

/// Where a region lies in its buffer, by dimension.
struct RegionBounds {
  std::vector<std::int64_t> mins, extents, shape;
  bool leaves = false;  // the buffer, with some element

  [[nodiscard]] std::int64_t elements() const {
    std::int64_t product = 1;
    for (const std::int64_t extent : extents) product *= extent;
    return product;
  }

  /// The elements that are in the buffer, in order, as runs of elements whose row-major numbers in the
  /// buffer follow each other: visit(first, number of the first, count), as long as it wants more. Where
  /// the region leaves, before that look(first, begin, end, count) for each row: what is inside of it.
  template <typename Visit, typename Look>
  void for_each_run(Visit&& visit, Look&& look) const {
    std::size_t rank = extents.size();
    std::int64_t inner = 1;  // elements of the dimensions that the region takes whole
    while (rank > 0 && mins[rank - 1] == 0 && extents[rank - 1] == shape[rank - 1])
      inner *= extents[--rank];
    const std::int64_t all = elements();
    if (rank == 0) {
      visit(0, 0, all);
      return;
    }
    std::vector<std::int64_t> scales(rank, inner), digits(rank, 0);
    for (std::size_t d = rank; d-- > 1;) scales[d - 1] = scales[d] * shape[d];
    std::int64_t flat = 0;
    for (std::size_t d = 0; d < rank; ++d) flat += mins[d] * scales[d];
    const std::int64_t row = extents[rank - 1] * inner;
    for (std::int64_t x = 0; x < all; x += row) {
      const auto [begin, end] = inside_of_row(digits, inner);
      if (leaves) look(x, begin, end, row);
      if (!visit(x + begin, flat + begin, end - begin)) return;
      for (std::size_t d = rank - 1; d-- > 0;) {
        flat += scales[d];
        if (++digits[d] < extents[d]) break;
        flat -= std::exchange(digits[d], 0) * scales[d];
      }
    }
  }

 private:
  // Where a row of `inner` elements for each place of the last digit begins and ends to be inside.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> inside_of_row(
      const std::vector<std::int64_t>& digits, std::int64_t inner) const {
    const std::size_t last = digits.size() - 1;
    if (!leaves) return {0, extents[last] * inner};
    for (std::size_t d = 0; d < last; ++d)
      if (mins[d] + digits[d] < 0 || mins[d] + digits[d] >= shape[d]) return {0, 0};
    const std::int64_t begin = std::clamp<std::int64_t>(-mins[last], 0, extents[last]);
    const std::int64_t end = std::clamp(shape[last] - mins[last], begin, extents[last]);
    return {begin * inner, end * inner};
  }
};

/// All that the names of a region depend on, beside the launch: the layout and the element type are
/// those of the buffer.
struct RegionKey {
  ir::BufferId buffer;
  int granule;
  std::int64_t first_thread;
  std::size_t threads;  // of the unit
  bool is_of_cluster;
  RegionBounds bounds;
  PerUnit start;
  std::optional<layout::Layout> layout;  // none: row-major
};
struct KnownNames {
  RegionKey key;
  RegionNames names;
};

namespace {

// --- where a layout puts elements ----------------------------------------------------------------

std::int64_t ctas_below(const ir::LaunchShape& launch, layout::Counter counter) {
  if (counter == layout::Counter::ClusterZ) return launch.cluster[0] * launch.cluster[1];
  return counter == layout::Counter::ClusterY ? launch.cluster[0] : 1;
}

// Axes of the CTA count threads; those of the cluster count CTAs, whose threads follow each other.
std::int64_t weight_of(const ir::LaunchShape& launch, layout::Axis axis) {
  const layout::AxisFacts& facts = axis.facts();
  if (facts.counter == layout::Counter::CtaThread) return facts.divisor;
  return launch.threads() * ctas_below(launch, facts.counter);
}

// What the axis reads in a thread.
std::int64_t read_by(const ir::LaunchShape& launch, layout::Axis axis, std::int64_t thread) {
  const layout::AxisFacts& facts = axis.facts();
  if (facts.counter == layout::Counter::CtaThread) {
    const std::int64_t digit = thread % launch.threads() / facts.divisor;
    return facts.modulus != 0 ? digit % facts.modulus : digit;
  }
  const std::int64_t rank = thread / launch.threads();
  if (facts.counter == layout::Counter::ClusterX) return rank % launch.cluster[0];
  if (facts.counter == layout::Counter::ClusterY)
    return rank / launch.cluster[0] % launch.cluster[1];
  return rank / (launch.cluster[0] * launch.cluster[1]);
}

void add_keys(LayoutPlaces& out, const std::vector<std::int64_t>& values, std::int64_t weight) {
  if (out.keys.empty()) out.keys.assign(values.size(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) out.keys[i] += values[i] * weight;
}

bool has_table(const layout::Layout& layout) {
  return layout.size() <= layout::kMaxEnumerated / layout.copies();
}

LayoutPlaces enumerated(const Call& call, const ir::Buffer& buffer, const layout::Layout& layout) {
  if (!has_table(layout)) return {layout, layout.size(), layout.copies(), {}, {}, {}};
  auto image = layout::enumerate(layout);
  WW_CHECK(image.has_value(), "a layout is not enumerated: {}", image.error().text);
  LayoutPlaces out{layout, image->size, image->copies, {}, {}, {}};
  const bool is_tensor = buffer.scope == ir::Scope::Tmem;
  const auto values_on = [&](layout::Axis axis) -> std::vector<std::int64_t>* {
    const auto found = std::find(image->axes.begin(), image->axes.end(), axis);
    if (found == image->axes.end()) return nullptr;
    return &image->values[static_cast<std::size_t>(found - image->axes.begin())];
  };
  if (is_tensor)
    if (const auto* lanes = values_on(layout::axes::tlane())) add_keys(out, *lanes, 1);
  // A thread holds an element when it agrees with its place on every thread axis that moves.
  if (buffer.scope == ir::Scope::Local)
    for (const layout::Axis axis : layout::moving_axes(out.layout.tile())) {
      if (!axis.is_thread()) continue;
      out.axes.push_back(axis);
      if (const auto* values = values_on(axis))
        add_keys(out, *values, weight_of(call.context.launch, axis));
    }
  const auto count = static_cast<std::size_t>(out.size * out.copies);
  if (out.keys.empty()) out.keys.assign(count, 0);
  auto* places = values_on(is_tensor ? layout::axes::tcol() : layout::axes::m());
  if (places != nullptr) out.at = std::move(*places);
  out.at.resize(count);
  return out;
}

// Enumerated once for all trials and all calls of a kernel: a proof makes many trials on the same few
// buffers. `layout` is the buffer's.
std::shared_ptr<const LayoutPlaces> layout_places(const Call& call, ir::BufferId buffer,
                                                  const layout::Layout& layout) {
  auto& known = call.context.layout_places[buffer.index];
  if (!known || known->layout != layout)
    known = std::make_shared<const LayoutPlaces>(enumerated(call, call.f()[buffer], layout));
  return known;
}

/// Threads of a unit by key: which of them hold an element with that key.
class KeyHolders {
 public:
  // Sorted by key, by counting: what a key has is between two starts.
  KeyHolders(const Call& call, const LayoutPlaces& places, std::int64_t first_thread,
             std::size_t threads)
      : starts_(std::max(ir::kMaxThreads, threads) + 1), threads_(threads) {
    const ir::LaunchShape& launch = call.context.launch;
    std::vector<std::size_t> keys(threads);
    for (std::size_t t = 0; t < threads; ++t) {
      std::int64_t key = 0;
      for (const layout::Axis axis : places.axes)
        key += read_by(launch, axis, first_thread + static_cast<std::int64_t>(t)) *
               weight_of(launch, axis);
      keys[t] = static_cast<std::size_t>(key);
      ++starts_.at(keys[t] + 1);
    }
    std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
    std::vector<std::uint32_t> next = starts_;
    for (std::size_t t = 0; t < threads; ++t) threads_[next[keys[t]]++] = t;
  }
  [[nodiscard]] std::span<const std::size_t> of(std::int64_t key) const {
    const auto at = static_cast<std::size_t>(key);
    const std::uint32_t begin = starts_.at(at), end = starts_.at(at + 1);
    return std::span(threads_).subspan(begin, end - begin);
  }

 private:
  std::vector<std::uint32_t> starts_;  // by key
  std::vector<std::size_t> threads_;
};

// --- regions -------------------------------------------------------------------------------------

/// Fills in the names of one operand's region, from its layout applied to coordinates.
class Meaning {
 public:
  Meaning(const Call& call, ProofValues& values, const ir::Region& region, int granule,
          bool may_leave)
      : call_(call),
        f_(call.f()),
        values_(values),
        region_(region),
        may_leave_(may_leave),
        buffer_(call.f()[region.buffer]),
        scope_(buffer_.scope),
        bits_(num::storage_bits(buffer_.dtype)),
        granule_(granule),
        group_(std::max(1, granule / bits_)),
        parts_(std::max(1, bits_ / granule)) {}

  // False: the sampled values put the region outside its buffer, and it may not leave it.
  Try<bool> read_bounds() {
    for (std::size_t d = 0; d < region_.ranges.size(); ++d) {
      const auto min = WW_TRY(values_.uniform(region_.ranges[d].min));
      const auto extent = WW_TRY(values_.uniform(region_.ranges[d].extent));
      values_.prefer_near(buffer_.shape[d], min, extent, may_leave_, d);
      const auto whole = WW_TRY(values_.uniform(buffer_.shape[d]));
      const bool leaves = min < 0 || min + extent > whole;
      if (extent < 1 || whole < 0 || (leaves && !may_leave_)) return false;
      bounds_.leaves = bounds_.leaves || leaves;
      bounds_.mins.push_back(min);
      bounds_.extents.push_back(extent);
      bounds_.shape.push_back(whole);
    }
    start_ = WW_TRY(values_.start_of(region_.buffer));
    return true;
  }
  [[nodiscard]] bool leaves() const { return bounds_.leaves; }

  // Once the bounds are read.
  Try<RegionNames> names(std::int64_t first_thread) {
    if (bounds_.leaves) return new_names(first_thread);
    auto& known = call_.context.names;
    for (const auto& each : known)
      if (is_key(each->key, first_thread)) return each->names;
    for (const auto& each : known)
      if (const auto by = granules_behind(each->key)) {
        RegionNames names = each->names;
        names.granules.move(*by);
        return names;
      }
    constexpr std::size_t kMaxKnown = 16;
    if (known.size() == kMaxKnown) known.erase(known.begin());
    auto names = WW_TRY(new_names(first_thread));
    RegionKey key{region_.buffer,        granule_, first_thread, values_.threads(),
                  call_.is_of_cluster(), bounds_,  start_,       buffer_.layout};
    known.push_back(std::make_shared<const KnownNames>(KnownNames{std::move(key), names}));
    return names;
  }

 private:
  [[nodiscard]] bool is_key(const RegionKey& key, std::int64_t first_thread) const {
    return is_alike(key) && key.first_thread == first_thread && key.threads == values_.threads() &&
           key.is_of_cluster == call_.is_of_cluster() && key.bounds.mins == bounds_.mins &&
           key.start == start_;
  }
  // But for the place where it begins and the unit.
  [[nodiscard]] bool is_alike(const RegionKey& key) const {
    return key.buffer == region_.buffer && key.granule == granule_ &&
           key.bounds.extents == bounds_.extents && key.bounds.shape == bounds_.shape &&
           key.layout == buffer_.layout;
  }
  // How many granules this region in memory lies behind another of the same buffer, all elements alike;
  // nothing where they do not, or by part of a granule. Which unit asks is all the same there.
  [[nodiscard]] std::optional<std::int64_t> granules_behind(const RegionKey& key) const {
    const bool is_row_major = buffer_.layout_kind != ir::LayoutKind::Explicit;
    if (!is_memory() || !is_alike(key) || (!is_row_major && key.bounds.mins != bounds_.mins) ||
        !start_.is_uniform() || !key.start.is_uniform())
      return std::nullopt;
    std::int64_t elements = 0, scale = 1;
    for (std::size_t d = bounds_.mins.size(); d-- > 0; scale *= bounds_.shape[d])
      elements += (bounds_.mins[d] - key.bounds.mins[d]) * scale;
    const std::int64_t bits = elements * bits_ + start_.front() - key.start.front();
    return bits % granule_ == 0 ? std::optional(bits / granule_) : std::nullopt;
  }

  Try<RegionNames> new_names(std::int64_t first_thread) {
    const std::int64_t elements = bounds_.elements();
    const std::size_t rows = buffer_.scope == ir::Scope::Local  ? values_.threads() + 1
                             : buffer_.scope == ir::Scope::Tmem ? kTensorLanes
                                                                : 1;
    if (bounds_.leaves) outside_.resize(static_cast<std::size_t>(elements * parts_ / group_ + 1));
    WW_TRY_VOID(place_all(elements, first_thread));
    return RegionNames{elements, Granules(rows, granule_, spots_, buffer_.scope == ir::Scope::Tmem),
                       std::move(outside_)};
  }

  Try<void> place_all(std::int64_t elements, std::int64_t first_thread) {
    const std::optional<layout::Layout> whole = ir::layout_of(f_, buffer_);
    if (buffer_.layout_kind == ir::LayoutKind::Explicit) {
      if (!whole) return unknown("a layout without a constant shape");
      if (!has_table(*whole) && (!is_memory() || whole->copies() > 1))
        return unknown("a layout of {} elements", whole->size());
      places_ = layout_places(call_, region_.buffer, *whole);
      if (buffer_.scope == ir::Scope::Local)
        holders_.emplace(call_, *places_, first_thread, values_.threads());
    }
    const std::int64_t copies = places_ ? places_->copies : 1;
    last_.resize(static_cast<std::size_t>(copies));
    spots_.reserve(static_cast<std::size_t>(elements * copies * parts_ / group_));
    is_together_ = elements % group_ == 0;
    const auto visit = [&](std::int64_t x, std::int64_t flat, std::int64_t count) {
      for (std::int64_t c = 0; c < copies; ++c) place_run(x, flat, count, c);
      return is_together_;
    };
    bounds_.for_each_run(
        visit, [&](std::int64_t x, std::int64_t begin, std::int64_t end, std::int64_t count) {
          note_outside(x, begin, true);
          note_outside(x + begin, end - begin, false);
          note_outside(x + end, count - end, true);
        });
    if (!is_together_) return unknown("elements of a granule lie apart");
    return {};
  }

  // A granule is outside with all its elements, or with none.
  void note_outside(std::int64_t x, std::int64_t count, bool is_outside) {
    if (count == 0) return;
    const std::int64_t first = x / group_ * parts_, end = ((x + count - 1) / group_ + 1) * parts_;
    if (x % group_ != 0 && outside_[static_cast<std::size_t>(first)] != is_outside)
      is_together_ = false;
    std::fill(outside_.begin() + first, outside_.begin() + end, is_outside);
  }

  /// Where an element is: in memory, in that lane of tensor memory, or in the registers of the
  /// threads with that key.
  struct Place {
    std::int64_t at = 0;
    std::int64_t key = 0;
  };

  // The first element of a granule has its name; the others must follow it.
  void place_run(std::int64_t x, std::int64_t flat, std::int64_t count, std::int64_t copy) {
    if (!places_) return place_plain_run(x, flat, count);
    if (is_of_granules()) return place_granules(x, flat, count, copy);
    Place& last = last_[static_cast<std::size_t>(copy)];
    const auto [at, keys] = places_of_run(flat, count, copy);
    std::int64_t granule = (x + group_ - 1) / group_;
    std::int64_t until_next = granule * group_ - x;
    for (std::int64_t i = 0; i < count; ++i) {
      const Place now{at[i], keys[i]};
      if (until_next == 0) {
        hold(static_cast<Name>(granule++ * parts_), now);
        until_next = group_;
      } else if (now.at != last.at + 1 || now.key != last.key) {
        is_together_ = false;
      }
      --until_next;
      last = now;
    }
  }

  // `at` and `keys` of so many elements from one on.
  std::pair<const std::int64_t*, const std::int64_t*> places_of_run(std::int64_t flat,
                                                                    std::int64_t count,
                                                                    std::int64_t copy) {
    const std::int64_t first = copy * places_->size + flat;
    if (!places_->at.empty()) return {places_->at.data() + first, places_->keys.data() + first};
    made_at_.clear();
    for (std::int64_t x = first; x < first + count; ++x) {
      const auto place = layout::apply(places_->layout, x);
      WW_CHECK(place.has_value(), "an element has no place: {}", place.error().text);
      std::int64_t at = 0;
      for (const layout::AxisValue& each : *place)
        if (each.axis == layout::axes::m()) at = each.value;
      made_at_.push_back(at);
    }
    made_keys_.resize(made_at_.size());
    return {made_at_.data(), made_keys_.data()};
  }

  [[nodiscard]] bool is_memory() const {
    return scope_ != ir::Scope::Local && scope_ != ir::Scope::Tmem;
  }
  // Is each element of memory, or of registers that threads share, a granule?
  [[nodiscard]] bool is_of_granules() const {
    const bool is_held = holders_ && start_.is_uniform();
    return granule_ == bits_ && (is_held || is_memory()) && start_.front() % granule_ == 0;
  }
  void place_granules(std::int64_t x, std::int64_t flat, std::int64_t count, std::int64_t copy) {
    const std::int64_t base = start_.front() / granule_;
    const auto [at, keys] = places_of_run(flat, count, copy);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto name = static_cast<Name>(x + i);
      if (!holders_)
        spots_.push_back({base + at[i], 0, name});
      else
        for (const std::size_t t : holders_->of(keys[i]))
          spots_.push_back({base + at[i], static_cast<std::uint32_t>(t), name});
    }
  }

  // Row-major: the elements of a run follow each other.
  void place_plain_run(std::int64_t x, std::int64_t flat, std::int64_t count) {
    if (count == 0) return;
    if (x % group_ != 0 && flat != last_[0].at + 1) is_together_ = false;
    std::int64_t granule = (x + group_ - 1) / group_;
    for (std::int64_t i = granule * group_ - x; i < count; i += group_)
      hold(static_cast<Name>(granule++ * parts_), {flat + i, 0});
    last_[0].at = flat + count - 1;
  }

  void hold(Name name, Place place) {
    const std::int64_t bit = place.at * bits_;
    if (holders_) {
      for (const std::size_t t : holders_->of(place.key)) put(name, t, start_[t] + bit);
    } else if (scope_ == ir::Scope::Tmem) {
      const bool is_lane = place.key >= 0 && place.key < static_cast<std::int64_t>(kTensorLanes);
      if (is_lane) put(name, static_cast<std::size_t>(place.key), start_[0] + bit);
    } else {
      const std::size_t rows = scope_ == ir::Scope::Local ? values_.threads() : 1;
      for (std::size_t t = 0; t < rows; ++t) put(name, t, start_[t] + bit);
    }
  }

  [[gnu::always_inline]] void put(Name name, std::size_t row, std::int64_t bit) {
    const std::int64_t first = granule_at(bit, granule_);
    if (group_ > 1 && bit != first * granule_) is_together_ = false;
    for (int i = 0; i < parts_; ++i)
      spots_.push_back({first + i, static_cast<std::uint32_t>(row), name + i});
  }

  const Call& call_;
  ir::Function& f_;
  ProofValues& values_;
  const ir::Region& region_;
  bool may_leave_;
  std::vector<bool> outside_;
  const ir::Buffer& buffer_;
  ir::Scope scope_;  // of the buffer
  int bits_;         // of an element
  int granule_;
  int group_;  // elements of a granule
  int parts_;  // granules of an element
  RegionBounds bounds_;
  PerUnit start_;
  std::vector<Spot> spots_;
  std::vector<Place> last_;  // by copy: of the element before
  bool is_together_ = true;
  std::shared_ptr<const LayoutPlaces> places_;     // none: row-major
  std::vector<std::int64_t> made_at_, made_keys_;  // of the run, where there are no tables
  std::optional<KeyHolders> holders_;              // none: every thread has elements of its own
};

}  // namespace

Try<std::optional<RegionNames>> names_of(const Call& call, ProofValues& values,
                                         const ir::Region& region, int granule_bits,
                                         std::int64_t first_thread, bool may_leave) {
  Meaning meaning(call, values, region, granule_bits, may_leave);
  const auto is_read = WW_TRY(meaning.read_bounds());
  if (!is_read) return std::nullopt;
  return WW_TRY(meaning.names(first_thread));
}

Try<std::optional<bool>> leaves_buffer(const Call& call, ProofValues& values,
                                       const ir::Region& region, bool may_leave) {
  Meaning meaning(call, values, region, num::storage_bits(call.f()[region.buffer].dtype),
                  may_leave);
  const auto is_read = WW_TRY(meaning.read_bounds());
  return is_read ? std::optional(meaning.leaves()) : std::nullopt;
}

Stretch::Stretch(const std::vector<std::int64_t>& into, const std::vector<std::int64_t>& from) {
  std::vector<std::int64_t> wide, narrow;
  for (const std::int64_t extent : into)
    if (extent != 1) wide.push_back(extent);
  for (const std::int64_t extent : from)
    if (extent != 1) narrow.push_back(extent);
  is_alike_ = wide == narrow;
  std::int64_t scale = 1;
  for (std::size_t back = 1; back <= from.size(); ++back) {
    const std::int64_t extent = from[from.size() - back];
    const std::int64_t whole = back <= into.size() ? into[into.size() - back] : 1;
    steps_.push_back({whole, extent == 1 ? 0 : scale});
    scale *= extent;
  }
}

std::int64_t Stretch::operator()(std::int64_t x) const {
  if (is_alike_) return x;
  std::int64_t y = 0;
  for (const Digit& digit : steps_) {
    y += x % digit.extent * digit.scale;
    x /= digit.extent;
  }
  return y;
}

}  // namespace ww::lower
