// SPDX-License-Identifier: Apache-2.0
#include "runtime/sass/listing.h"

#include <charconv>
#include <optional>
#include <system_error>

#include "base/ascii.h"
#include "base/split.h"

namespace ww::runtime {
namespace {

constexpr std::string_view kSection = ".text.";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<std::uint32_t> number(std::string_view text, int base) {
  std::uint32_t out = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  if (error != std::errc() || rest == text.data()) return std::nullopt;
  return out;
}

// The 12 of `//## File ".nv_debug_ptx_txt", line 12`.
std::optional<std::uint32_t> line_of(std::string_view text) {
  constexpr std::string_view kBefore = "\", line ";
  const std::size_t at = text.find(kBefore);
  if (!text.starts_with("//##") || at == std::string_view::npos) return std::nullopt;
  return number(text.substr(at + kBefore.size()), 10);
}

// The first word, which is taken off.
std::string_view next_word(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && !is_space(text[end])) ++end;
  const std::string_view word = text.substr(0, end);
  text = trimmed(text.substr(end));
  return word;
}

// `/*01a0*/ @P0 BRA `(.L_x_9) ;`
std::optional<SassInstruction> instruction_in(std::string_view text) {
  const std::size_t end = text.find("*/");
  const auto address = number(text.substr(2, end == std::string_view::npos ? 0 : end - 2), 16);
  if (!address) return std::nullopt;
  SassInstruction out{.address = *address};
  std::string_view rest = trimmed(text.substr(end + 2));
  if (rest.ends_with(';')) rest = trimmed(rest.substr(0, rest.size() - 1));
  if (rest.starts_with('@')) out.guard = next_word(rest);
  out.opcode = next_word(rest);
  out.operands = rest;
  if (out.opcode.empty()) return std::nullopt;
  return out;
}

bool is_label(std::string_view text) {
  return text.ends_with(':') && text.find_first_of(" \t") == std::string_view::npos;
}

}  // namespace

Result<std::vector<SassFunction>> read_listing(std::string_view text) {
  std::vector<SassFunction> out;
  std::uint32_t line = 0;
  for (const std::string_view each : split_words(text, '\n')) {
    const std::string_view part = trimmed(each);
    if (const auto number = line_of(part)) {
      line = *number;
    } else if (is_label(part)) {
      const std::string_view name = part.substr(0, part.size() - 1);
      if (name.starts_with(kSection)) {
        out.push_back({.name = name.substr(kSection.size())});
        line = 0;
      } else if (!out.empty()) {
        out.back().labels.emplace(name, out.back().code.size());
      }
    } else if (part.starts_with("/*") && !out.empty()) {
      auto instruction = instruction_in(part);
      if (!instruction)
        return fail(DiagKind::DeviceError, "the disassembly has a line without instruction: `{}`",
                    part);
      instruction->line = line;
      out.back().code.push_back(*instruction);
    }
  }
  std::erase_if(out, [](const SassFunction& function) { return function.code.empty(); });
  if (out.empty()) return fail(DiagKind::DeviceError, "the disassembly has no code");
  return out;
}

}  // namespace ww::runtime
