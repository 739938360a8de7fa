// SPDX-License-Identifier: Apache-2.0
#include "property/cases.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <set>
#include <tuple>

#include "harness/shrink.h"
#include "harness/tape.h"

namespace ww::test {

std::string text(const Case& c) {
  std::string out;
  for (const Operand& operand : c.operands) {
    out += "\n    " + notation(operand.parts);
    if (!operand.shape.empty()) out += "   shape " + text(operand.shape);
    if (!operand.region.empty()) out += "   region ";
    for (std::size_t d = 0; d < operand.region.size(); ++d) {
      const RegionSide& side = operand.region[d];
      out += fmt::format("{}{}:{}", d == 0 ? "" : ",", side.begin, side.begin + side.extent);
    }
  }
  if (!c.numbers.empty()) out += "\n    numbers " + text(c.numbers);
  return out;
}

namespace {

bool is_sound(const Operand& operand) {
  if (!build(operand.parts)) return false;
  if (!operand.shape.empty() && product(operand.shape) != size_of(operand.parts)) return false;
  if (operand.region.empty()) return true;
  if (operand.region.size() != operand.shape.size()) return false;
  for (std::size_t d = 0; d < operand.region.size(); ++d) {
    const RegionSide& side = operand.region[d];
    const bool inside =
        side.begin >= 0 && side.extent >= 1 && side.begin + side.extent <= operand.shape[d];
    if (!inside) return false;
  }
  return true;
}

}  // namespace

bool is_sound(const Case& c) {
  for (const Operand& operand : c.operands) {
    if (!is_sound(operand)) return false;
  }
  return true;
}

Case random_numbers(Rng& rng, std::size_t count) {
  Case out;
  for (std::size_t i = 0; i < count; ++i) out.numbers.push_back(rng.between(0, 9999));
  return out;
}

// ---- Smaller cases ------------------------------------------------------------------------------

namespace {

/// What "smaller" means: fewer iters, then fewer elements, then smaller numbers.
using Weight = std::tuple<std::size_t, std::int64_t, std::int64_t>;

std::int64_t magnitude(std::int64_t v) { return v < 0 ? 1 - 2 * v : 2 * v; }

Weight weight(const Case& c) {
  Weight w{0, 0, 0};
  auto& [parts, elements, numbers] = w;
  const auto weigh_iters = [&](const std::vector<OIter>& iters, std::int64_t bias) {
    parts += iters.size();
    for (const OIter& it : iters) {
      elements += it.extent;
      numbers += magnitude(it.stride) + (it.axis == "m" ? 0 : 1) + bias;
    }
  };
  for (const Operand& operand : c.operands) {
    weigh_iters(operand.parts.shard, 0);
    weigh_iters(operand.parts.replica, 1);
    parts += operand.parts.offset.size() + operand.shape.size();
    parts += operand.parts.swizzle.len == 0 ? 0 : 1;
    const OSwizzle& s = operand.parts.swizzle;
    numbers += s.per_element + s.len + s.atom + (s.inner ? 0 : 1);
    for (const auto& [axis, value] : operand.parts.offset) {
      numbers += magnitude(value) + (axis == "m" ? 0 : 1);
    }
    for (const RegionSide& side : operand.region) numbers += 2 * side.extent + side.begin;
  }
  for (const std::int64_t n : c.numbers) numbers += magnitude(n);
  return w;
}

Ints smaller_extents(std::int64_t e) {
  Ints out;
  for (const std::int64_t candidate : {std::int64_t{1}, std::int64_t{2}, e / 2, e - 1}) {
    if (candidate >= 1 && candidate < e) out.push_back(candidate);
  }
  return out;
}

Ints smaller_values(std::int64_t v) {
  Ints out;
  for (const std::int64_t candidate :
       {std::int64_t{0}, std::int64_t{1}, v < 0 ? -v : v, v / 2, v > 0 ? v - 1 : v + 1}) {
    if (magnitude(candidate) < magnitude(v)) out.push_back(candidate);
  }
  return out;
}

void shrink_iters(const std::vector<OIter>& iters,
                  const std::function<void(std::vector<OIter>)>& emit) {
  for (std::size_t k = 0; k < iters.size(); ++k) {
    auto changed = iters;
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(k));
    emit(changed);
    for (const std::int64_t e : smaller_extents(iters[k].extent)) {
      changed = iters;
      changed[k].extent = e;
      emit(changed);
    }
    for (const std::int64_t s : smaller_values(iters[k].stride)) {
      changed = iters;
      changed[k].stride = s;
      emit(changed);
    }
    if (iters[k].axis != "m") {
      changed = iters;
      changed[k].axis = "m";
      emit(changed);
    }
  }
}

void shrink_offset(const OLayout& parts, const std::function<void(OLayout)>& emit) {
  for (const auto& [axis, value] : parts.offset) {
    for (const std::int64_t v : smaller_values(value)) {
      OLayout changed = parts;
      if (v == 0) {
        changed.offset.erase(axis);
      } else {
        changed.offset[axis] = v;
      }
      emit(changed);
    }
  }
}

void shrink_swizzle(const OLayout& parts, const std::function<void(OLayout)>& emit) {
  const OSwizzle& s = parts.swizzle;
  if (s.len == 0) return;
  for (const OSwizzle& candidate : {OSwizzle{}, OSwizzle{s.per_element, s.len, s.atom, true},
                                    OSwizzle{s.per_element - 1, s.len, s.atom, s.inner},
                                    OSwizzle{s.per_element, s.len - 1, s.atom, s.inner},
                                    OSwizzle{s.per_element, s.len, s.atom - 1, s.inner}}) {
    if (candidate.per_element < 0 || candidate.atom < candidate.len || candidate == s) continue;
    OLayout changed = parts;
    changed.swizzle = candidate.len == 0 ? OSwizzle{} : candidate;
    emit(changed);
  }
}

/// One axis renamed to `m` throughout.
void shrink_axes(const OLayout& parts, const std::function<void(OLayout)>& emit) {
  std::set<std::string> axes;
  for (const OIter& it : parts.shard) axes.insert(it.axis);
  for (const OIter& it : parts.replica) axes.insert(it.axis);
  axes.erase("m");
  for (const std::string& axis : axes) {
    OLayout changed = parts;
    for (auto* list : {&changed.shard, &changed.replica}) {
      for (OIter& it : *list) {
        if (it.axis == axis) it.axis = "m";
      }
    }
    emit(changed);
  }
}

void shrink_parts(const OLayout& parts, const std::function<void(OLayout)>& emit) {
  shrink_iters(parts.shard, [&](std::vector<OIter> iters) {
    OLayout changed = parts;
    changed.shard = std::move(iters);
    emit(changed);
  });
  shrink_iters(parts.replica, [&](std::vector<OIter> iters) {
    OLayout changed = parts;
    changed.replica = std::move(iters);
    emit(changed);
  });
  shrink_axes(parts, emit);
  shrink_offset(parts, emit);
  shrink_swizzle(parts, emit);
}

/// The region, pulled inside the shape.
void clip_region(Operand& operand) {
  if (operand.region.empty()) return;
  operand.region.resize(operand.shape.size());
  for (std::size_t d = 0; d < operand.shape.size(); ++d) {
    RegionSide& side = operand.region[d];
    side.extent = std::min(side.extent, operand.shape[d]);
    side.begin = std::min(side.begin, operand.shape[d] - side.extent);
  }
}

/// The shapes nearest to the old one that fit a new number of elements.
std::vector<Ints> adapted_shapes(const Ints& shape, std::int64_t size) {
  if (shape.empty() || product(shape) == size) return {shape};
  std::vector<Ints> out;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    Ints changed = shape;
    const std::int64_t rest = product(shape) / shape[d];
    if (size % rest != 0) continue;
    changed[d] = size / rest;
    out.push_back(changed);
  }
  out.push_back({size});
  return out;
}

void shrink_shape(const Operand& operand, const std::function<void(Operand)>& emit) {
  for (std::size_t d = 0; d < operand.shape.size() && operand.shape.size() > 1; ++d) {
    const auto at = static_cast<std::ptrdiff_t>(d);
    Operand changed = operand;
    const std::int64_t e = changed.shape[d];
    changed.shape.erase(changed.shape.begin() + at);
    if (!changed.region.empty()) changed.region.erase(changed.region.begin() + at);
    if (e != 1) changed.shape[d == changed.shape.size() ? d - 1 : d] *= e;
    clip_region(changed);
    emit(changed);
  }
}

void shrink_region(const Operand& operand, const std::function<void(Operand)>& emit) {
  for (std::size_t d = 0; d < operand.region.size(); ++d) {
    Operand changed = operand;
    for (const std::int64_t begin : smaller_values(operand.region[d].begin)) {
      changed.region[d].begin = begin;
      emit(changed);
    }
    changed = operand;
    for (const std::int64_t extent : smaller_extents(operand.region[d].extent)) {
      changed.region[d].extent = extent;
      emit(changed);
    }
  }
}

void shrink_operand(const Operand& operand, const std::function<void(Operand)>& emit) {
  shrink_parts(operand.parts, [&](const OLayout& parts) {
    for (const Ints& shape : adapted_shapes(operand.shape, size_of(parts))) {
      Operand changed{parts, shape, operand.region};
      clip_region(changed);
      emit(changed);
    }
  });
  shrink_shape(operand, emit);
  shrink_region(operand, emit);
}

std::vector<Case> smaller_cases(const Case& c) {
  std::vector<Case> out;
  const Weight limit = weight(c);
  const auto keep = [&](Case candidate) {
    if (weight(candidate) < limit && is_sound(candidate)) out.push_back(std::move(candidate));
  };
  for (std::size_t k = 0; k < c.operands.size(); ++k) {
    shrink_operand(c.operands[k], [&](const Operand& operand) {
      Case changed = c;
      changed.operands[k] = operand;
      keep(changed);
    });
  }
  for (std::size_t k = 0; k < c.numbers.size(); ++k) {
    for (const std::int64_t v : smaller_values(c.numbers[k])) {
      Case changed = c;
      changed.numbers[k] = v;
      keep(changed);
    }
  }
  return out;
}

}  // namespace

Complaint complaint_of(const Law& law, const Case& c) {
  try {
    return law(c);
  } catch (const std::exception& e) {
    return fmt::format("threw: {}", e.what());
  }
}

Failure shrink(const Law& law, Case c, std::string complaint, std::string origin) {
  const auto still_fails = [&](const Case& smaller) {
    Complaint still = complaint_of(law, smaller);
    if (still) complaint = *still;
    return still.has_value();
  };
  constexpr int kNoLimit = -1;  // on tries: each step makes the case smaller
  constexpr int kMaxSteps = 300;
  Shrinker<Case> shrinker(std::move(c), still_fails, kNoLimit);
  for (int step = 0; step < kMaxSteps; ++step) {
    std::vector<Case> smaller = smaller_cases(shrinker.best());
    if (std::ranges::none_of(smaller, [&](const Case& each) { return shrinker.attempt(each); }))
      break;
  }
  return {shrinker.best(), std::move(complaint), std::move(origin)};
}

// ---- Running ------------------------------------------------------------------------------------

namespace {

/// splitmix64: neighbouring case numbers give unrelated seeds.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t k) {
  std::uint64_t z = seed + (k + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

void report(const Failure& failure) {
  ADD_FAILURE() << failure.complaint << "\n  smallest case:" << text(failure.smallest) << "\n  "
                << failure.origin;
}

}  // namespace

std::optional<Failure> find_failure(std::uint64_t seed, std::int64_t count,
                                    const Generator& generator, const Law& law) {
  for (std::int64_t k = 0; k < count; ++k) {
    Rng rng(mixed(seed, static_cast<std::uint64_t>(k)));
    Case c = generator(rng);
    if (!is_sound(c)) continue;
    if (Complaint complaint = complaint_of(law, c)) {
      return shrink(law, c, *complaint, fmt::format("WW_SEED={} case {}:{}", seed, k, text(c)));
    }
  }
  return std::nullopt;
}

namespace {

// Sanitizers cost a factor of ten, and look for other faults than laws do: there, a sample of all
// small layouts is enough. The plain build looks at every one.
#ifdef __SANITIZE_ADDRESS__
constexpr std::int64_t kSmallShare = 37;
#else
constexpr std::int64_t kSmallShare = 1;
#endif

}  // namespace

void for_all(std::uint64_t seed, std::int64_t count, const Generator& generator, const Law& law) {
  seed = from_environment("WW_SEED", seed);
  const std::uint64_t cases = from_environment("WW_CASES", static_cast<std::uint64_t>(count));
  const auto failure = find_failure(seed, static_cast<std::int64_t>(cases), generator, law);
  if (failure) report(*failure);
}

void for_all_small(const Space& space, const Cases& cases, const Law& law) {
  bool failed = false;
  std::int64_t number = 0;
  for_each_layout(space, [&](const OLayout& parts) {
    if (failed) return;
    cases(parts, [&](const Case& c) {
      if (failed || number++ % kSmallShare != 0) return;
      Complaint complaint = complaint_of(law, c);
      if (!complaint) return;
      failed = true;
      report(shrink(law, c, *complaint, "found among all small layouts:" + text(c)));
    });
  });
}

void for_all_small(const Space& space, const Law& law) {
  for_all_small(
      space,
      [](const OLayout& parts, const std::function<void(const Case&)>& visit) {
        visit({.operands = {{.parts = parts}}});
      },
      law);
}

void for_one(const Case& c, const Law& law) {
  ASSERT_TRUE(is_sound(c)) << text(c);
  if (Complaint complaint = complaint_of(law, c)) {
    report({c, *complaint, "given by hand"});
  }
}

}  // namespace ww::test
