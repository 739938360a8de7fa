// SPDX-License-Identifier: Apache-2.0
#include "soak/program_text.h"

namespace ww::test {

Place Place::inside() const {
  Place out = *this;
  ++out.depth;
  out.indent += "    ";
  return out;
}

void ProgramText::param(const std::string& name, std::string_view shape, std::string_view dtype) {
  params_ += fmt::format("{}_ptr: T.handle, ", name);
  matches_ += fmt::format("    {0} = T.match_buffer({0}_ptr, {1}, \"{2}\")\n", name, shape, dtype);
}

void ProgramText::scalar(const std::string& name, std::string_view dtype) {
  params_ += fmt::format("{}: T.{}, ", name, dtype);
}

void ProgramText::extent(const std::string& name) {
  matches_ += fmt::format("    {} = T.int32()\n", name);
}

void ProgramText::entry(std::int64_t ctas, std::int64_t threads, bool has_warpgroups) {
  line({}, "T.device_entry()");
  line({}, "cta = T.cta_id([{}])", ctas);
  if (threads % 32 == 0) line({}, "warp = T.warp_id([{}])", threads / 32);
  if (threads % 32 == 0) line({}, "lane = T.lane_id([32])");
  if (has_warpgroups) line({}, "wg = T.warpgroup_id([{}])", threads / 128);
  line({}, "tid = T.thread_id([{}])", threads);
}

std::string ProgramText::kernel() const {
  return fmt::format("@T.prim_func\ndef kernel({}p0: T.int32):\n{}{}", params_, matches_, body_);
}

}  // namespace ww::test
