// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/names.h"

#include <numeric>
#include <span>

#include "layout/apply.h"

namespace ww::lower {
namespace {

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
        bits_(num::bits_of(buffer_.dtype)),
        granule_(granule),
        group_(std::max(1, granule / bits_)),
        parts_(std::max(1, bits_ / granule)) {}

  // Nothing: the sampled values put the region outside its buffer.
  Try<std::optional<RegionNames>> names(std::int64_t first_thread) {
    for (std::size_t d = 0; d < region_.ranges.size(); ++d) {
      const auto min = WW_TRY(values_.uniform(region_.ranges[d].min));
      const auto extent = WW_TRY(values_.uniform(region_.ranges[d].extent));
      values_.prefer_near(buffer_.shape[d], min, extent, may_leave_, d);
      const auto whole = WW_TRY(values_.uniform(buffer_.shape[d]));
      const bool leaves = min < 0 || min + extent > whole;
      if (extent < 1 || whole < 0 || (leaves && !may_leave_)) return std::nullopt;
      leaves_ = leaves_ || leaves;
      mins_.push_back(min);
      extents_.push_back(extent);
      shape_.push_back(whole);
    }
    std::int64_t elements = 1;
    for (const std::int64_t extent : extents_) elements *= extent;
    const std::size_t rows = buffer_.scope == ir::Scope::Local  ? values_.threads() + 1
                             : buffer_.scope == ir::Scope::Tmem ? kTensorLanes
                                                                : 1;
    start_ = WW_TRY(values_.start_of(region_.buffer));
    if (leaves_) outside_.resize(static_cast<std::size_t>(elements * parts_ / group_ + 1));
    WW_TRY_VOID(place_all(elements, first_thread));
    return RegionNames{elements, Granules(rows, granule_, spots_, buffer_.scope == ir::Scope::Tmem),
                       std::move(outside_)};
  }

 private:
  Try<void> place_all(std::int64_t elements, std::int64_t first_thread) {
    const std::optional<layout::Layout> whole = ir::layout_of(f_, buffer_);
    if (buffer_.layout_kind == ir::LayoutKind::Explicit && !whole)
      return unknown("a layout without a constant shape");
    const bool is_plain = buffer_.layout_kind != ir::LayoutKind::Explicit;
    if (!is_plain) prepare(*whole, first_thread);
    const std::int64_t copies = is_plain ? 1 : image_.copies;
    last_.resize(static_cast<std::size_t>(copies));
    spots_.reserve(static_cast<std::size_t>(elements * copies * parts_ / group_));
    is_together_ = elements % group_ == 0;
    for_each_element(elements, [&](std::int64_t x, std::int64_t flat, bool is_inside) {
      if (leaves_) note_outside(x, !is_inside);
      if (!is_inside) return is_together_;
      if (is_plain) place(x, 0, {flat, 0});
      for (std::int64_t c = 0; c < copies && !is_plain; ++c) place(x, c, copy_of(flat, c));
      return is_together_;
    });
    if (!is_together_) return unknown("elements of a granule lie apart");
    return {};
  }

  // A granule is outside with all its elements, or with none.
  void note_outside(std::int64_t x, bool is_outside) {
    const auto first = static_cast<std::size_t>(x / group_ * parts_);
    if (x % group_ != 0 && outside_[first] != is_outside) is_together_ = false;
    for (int i = 0; i < parts_; ++i) outside_[first + static_cast<std::size_t>(i)] = is_outside;
  }

  // The elements of the region in order, each with its row-major number in the buffer, and whether
  // it is in the buffer, as long as the visitor wants more.
  template <typename Visit>
  void for_each_element(std::int64_t elements, Visit&& visit) const {
    const std::size_t rank = extents_.size();
    std::vector<std::int64_t> scales(rank, 1), digits(rank, 0);
    for (std::size_t d = rank; d-- > 1;) scales[d - 1] = scales[d] * shape_[d];
    std::int64_t flat = 0;
    for (std::size_t d = 0; d < rank; ++d) flat += mins_[d] * scales[d];
    for (std::int64_t x = 0; x < elements; ++x) {
      bool is_inside = true;
      for (std::size_t d = 0; leaves_ && d < rank; ++d)
        is_inside = is_inside && mins_[d] + digits[d] >= 0 && mins_[d] + digits[d] < shape_[d];
      if (!visit(x, flat, is_inside)) return;
      for (std::size_t d = rank; d-- > 0;) {
        flat += scales[d];
        if (++digits[d] < extents_[d]) break;
        flat -= std::exchange(digits[d], 0) * scales[d];
      }
    }
  }

  void prepare(const layout::Layout& whole, std::int64_t first_thread) {
    auto image = layout::enumerate(whole);
    WW_CHECK(image.has_value(), "a layout is not enumerated: {}", image.error().text);
    image_ = *std::move(image);
    const bool is_tensor = buffer_.scope == ir::Scope::Tmem;
    for (std::size_t a = 0; a < image_.axes.size(); ++a) {
      if (image_.axes[a] == (is_tensor ? layout::axes::tcol() : layout::axes::m()))
        places_ = &image_.values[a];
      if (is_tensor && image_.axes[a] == layout::axes::tlane())
        key_parts_.push_back({&image_.values[a], 1});
    }
    if (buffer_.scope != ir::Scope::Local) return;
    // A thread holds an element when it agrees with its place on every thread axis that moves.
    for (const layout::Axis axis : layout::moving_axes(whole.tile())) {
      if (!axis.is_thread()) continue;
      axes_.push_back(axis);
      for (std::size_t a = 0; a < image_.axes.size(); ++a)
        if (image_.axes[a] == axis) key_parts_.push_back({&image_.values[a], weight_of(axis)});
    }
    find_holders(first_thread);
  }

  // Sorted by key, by counting: what a key has is between two starts.
  void find_holders(std::int64_t first_thread) {
    std::vector<std::size_t> keys(values_.threads());
    holder_starts_.assign(std::max(ir::kMaxThreads, keys.size()) + 1, 0);
    for (std::size_t t = 0; t < keys.size(); ++t) {
      keys[t] = static_cast<std::size_t>(key_of(first_thread + static_cast<std::int64_t>(t)));
      ++holder_starts_.at(keys[t] + 1);
    }
    std::partial_sum(holder_starts_.begin(), holder_starts_.end(), holder_starts_.begin());
    holders_.resize(keys.size());
    std::vector<std::uint32_t> next = holder_starts_;
    for (std::size_t t = 0; t < keys.size(); ++t) holders_[next[keys[t]]++] = t;
  }
  [[nodiscard]] std::span<const std::size_t> holders_of(std::int64_t key) const {
    const auto at = static_cast<std::size_t>(key);
    const std::uint32_t begin = holder_starts_.at(at), end = holder_starts_.at(at + 1);
    return std::span(holders_).subspan(begin, end - begin);
  }

  // Axes of the CTA count threads; those of the cluster count CTAs, whose threads follow each other.
  [[nodiscard]] std::int64_t weight_of(layout::Axis axis) const {
    const layout::AxisFacts& facts = axis.facts();
    if (facts.counter == layout::Counter::CtaThread) return facts.divisor;
    return call_.context.launch.threads() * ctas_below(facts.counter);
  }
  [[nodiscard]] std::int64_t ctas_below(layout::Counter counter) const {
    const auto& cluster = call_.context.launch.cluster;
    if (counter == layout::Counter::ClusterZ) return cluster[0] * cluster[1];
    return counter == layout::Counter::ClusterY ? cluster[0] : 1;
  }
  // What the axis reads in a thread.
  [[nodiscard]] std::int64_t read_by(layout::Axis axis, std::int64_t thread) const {
    const layout::AxisFacts& facts = axis.facts();
    const auto& launch = call_.context.launch;
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
  [[nodiscard]] std::int64_t key_of(std::int64_t thread) const {
    std::int64_t key = 0;
    for (const layout::Axis axis : axes_) key += read_by(axis, thread) * weight_of(axis);
    return key;
  }

  /// Where an element is: in memory, in that lane of tensor memory, or in the registers of the
  /// threads with that key.
  struct Place {
    std::int64_t at = 0;
    std::int64_t key = 0;
  };

  [[nodiscard]] Place copy_of(std::int64_t flat, std::int64_t copy) const {
    const auto i = static_cast<std::size_t>(copy * image_.size + flat);
    Place out{.at = places_ != nullptr ? (*places_)[i] : 0};
    for (const KeyPart& part : key_parts_) out.key += (*part.values)[i] * part.divisor;
    return out;
  }

  // The first element of a granule has its name; the others must follow it.
  void place(std::int64_t x, std::int64_t copy, Place now) {
    Place& last = last_[static_cast<std::size_t>(copy)];
    if (x % group_ == 0)
      hold(x, now);
    else if (now.at != last.at + 1 || now.key != last.key)
      is_together_ = false;
    last = now;
  }

  void hold(std::int64_t x, Place place) {
    if (buffer_.scope == ir::Scope::Tmem) {
      const bool is_lane = place.key >= 0 && place.key < static_cast<std::int64_t>(kTensorLanes);
      if (!is_lane) return;
      return put(x, static_cast<std::size_t>(place.key), start_[0] + place.at * bits_);
    }
    if (buffer_.scope != ir::Scope::Local) return put(x, 0, start_[0] + place.at * bits_);
    if (holder_starts_.empty()) {
      for (std::size_t t = 0; t < values_.threads(); ++t) put(x, t, start_[t] + place.at * bits_);
    } else {
      for (const std::size_t t : holders_of(place.key)) put(x, t, start_[t] + place.at * bits_);
    }
  }

  void put(std::int64_t x, std::size_t row, std::int64_t bit) {
    if (group_ > 1 && bit % granule_ != 0) is_together_ = false;
    const std::int64_t first = granule_at(bit, granule_);
    for (int i = 0; i < parts_; ++i)
      spots_.push_back(
          {first + i, static_cast<std::uint32_t>(row), static_cast<Name>(x / group_ * parts_ + i)});
  }

  const Call& call_;
  ir::Function& f_;
  ProofValues& values_;
  const ir::Region& region_;
  bool may_leave_;
  bool leaves_ = false;
  std::vector<bool> outside_;
  const ir::Buffer& buffer_;
  int bits_;  // of an element
  int granule_;
  int group_;  // elements of a granule
  int parts_;  // granules of an element
  std::vector<std::int64_t> mins_, extents_, shape_;
  PerUnit start_;
  std::vector<Spot> spots_;
  std::vector<Place> last_;  // by copy: of the element before
  bool is_together_ = true;
  layout::Image image_;
  using Numbers = std::vector<std::int64_t>;
  const Numbers* places_ = nullptr;  // in image_: on the memory axis
  struct KeyPart {
    const Numbers* values;
    std::int64_t divisor;
  };
  std::vector<KeyPart> key_parts_;  // in image_: on the axes below
  std::vector<layout::Axis> axes_;
  std::vector<std::uint32_t> holder_starts_;  // by the thread id that the axes make
  std::vector<std::size_t> holders_;
};

}  // namespace

Try<std::optional<RegionNames>> names_of(const Call& call, ProofValues& values,
                                         const ir::Region& region, int granule_bits,
                                         std::int64_t first_thread, bool may_leave) {
  return Meaning(call, values, region, granule_bits, may_leave).names(first_thread);
}

}  // namespace ww::lower
