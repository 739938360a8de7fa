// SPDX-License-Identifier: Apache-2.0
#include "lower/proof/layout_places.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "layout/apply.h"
#include "layout/image.h"

namespace ww::lower {
namespace {

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

LayoutPlaces enumerated(const Call& call, const ir::Buffer& buffer, const layout::Layout& layout) {
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

}  // namespace

std::shared_ptr<const LayoutPlaces> layout_places(const Call& call, ir::BufferId buffer,
                                                  const layout::Layout& layout) {
  auto& known = call.context.layout_places[buffer.index];
  if (!known || known->layout != layout)
    known = std::make_shared<const LayoutPlaces>(enumerated(call, call.f()[buffer], layout));
  return known;
}

// Sorted by key, by counting: what a key has is between two starts.
KeyHolders::KeyHolders(const Call& call, const LayoutPlaces& places, std::int64_t first_thread,
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

}  // namespace ww::lower
