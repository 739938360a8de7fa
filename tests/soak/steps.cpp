// SPDX-License-Identifier: Apache-2.0
#include "soak/steps.h"

#include <string>
#include <vector>

namespace ww::test {
namespace {

constexpr const Step* kSteps[] = {
#define WW_STEP(row) &row,
#include "soak/steps.def"
#undef WW_STEP
};

void write_one(Draft& draft, const Place& at) {
  std::vector<const Step*> fitting;
  for (const Step* step : kSteps)
    if ((step->is_of_thread || !at.is_thread) && step->fits(draft, at))
      fitting.insert(fitting.end(), static_cast<std::size_t>(step->weight), step);
  const Step& step = *draft.tape.pick(fitting);
  const std::size_t before = draft.text.size();
  step.write(draft, at);
  if (draft.text.size() != before) ++draft.steps[std::string(step.name)];
}

}  // namespace

std::span<const Step* const> all_steps() { return kSteps; }

void write_block(Draft& draft, const Place& at, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) write_one(draft, at);
}

}  // namespace ww::test
