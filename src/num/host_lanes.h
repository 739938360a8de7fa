// SPDX-License-Identifier: Apache-2.0
// Loops over lanes, compiled twice for x86-64: for every such processor, whose vectors have 16 bytes,
// and for those of x86-64-v3 (AVX2, FMA), whose vectors have 32. Which of them run is decided when
// the program starts. Both give the same bytes.
//
// A loop is a function object that is compiled into its caller, and all that it calls into it. So there
// is no second copy of an inline function that the linker could take for the plain one.
#pragma once

namespace ww::num {

/// Whether loops run as compiled for x86-64-v3 from now on, where the host has that; for tests. Returns
/// whether they did. (WW_PLAIN_LANES in the environment says no from the start.)
bool use_wide_lanes(bool are_wanted);

#if defined(__x86_64__) && !defined(__AVX2__)
[[gnu::visibility("hidden")]] extern bool has_wide_lanes;

template <typename Loop>
[[gnu::flatten, gnu::noinline, gnu::target("avx2,bmi,bmi2,fma")]] auto run_wide(Loop loop) {
  return loop();
}

/// wide() where the host has such vectors, else plain(): two ways to calculate the same. They capture by
/// value: what a loop reads through a reference might change in it, for all that the compiler knows.
template <typename Wide, typename Plain>
[[gnu::flatten, gnu::always_inline]] inline auto in_lanes(const Wide& wide, const Plain& plain) {
  if (has_wide_lanes) return run_wide(wide);
  return plain();
}
#else
template <typename Wide, typename Plain>
[[gnu::always_inline]] inline auto in_lanes(const Wide&, const Plain& plain) {
  return plain();
}
#endif

/// The same with one way.
template <typename Loop>
[[gnu::always_inline]] inline auto in_lanes(const Loop& loop) {
  return in_lanes(loop, loop);
}

}  // namespace ww::num
