// SPDX-License-Identifier: Apache-2.0
// Findings of a CTA: how they name threads, CTAs and elements.
#pragma once

#include <string>
#include <utility>
#include "eval/cta/cta.h"

namespace ww::eval {

std::string cta_text(const Cta& cta);  // "CTA (0,0,0)"
std::string thread_text(Thread t);     // "thread 3"
std::string agent_text(Agent agent);   // "warp 3"
std::string element_text(const Cta& cta, const Element& element);
std::string value_text(num::DType type, Word value);

Span span_of(const Cta& cta, std::uint32_t step);
/// A finding at cta.step to fill in; null when one of its kind is there.
Finding* finding(Cta& cta, Check check, std::uint32_t buffer = ir::BufferId::kNone);
Finding* finding(Cta& cta, Check check, const Element& element);
/// Fills it in, if there is one.
template <typename... Args>
void describe(Finding* found, fmt::format_string<Args...> text, Args&&... args) {
  if (found != nullptr) found->text = fmt::format(text, std::forward<Args>(args)...);
}
/// The run cannot go on; the first reason counts.
void stop(Cta& cta, DiagKind kind, std::string text);

/// Deadlock: reports which threads wait for which.
void report_stuck(Cta& cta);
/// What must not be left over at the end.
void report_leftovers(Cta& cta);

}  // namespace ww::eval
