// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "base/join.h"
#include "base/split.h"
#include "base/suggest.h"

namespace ww::cli {
namespace {

auto one_of(std::span<const std::string_view> choices) {
  return [choices](std::string_view given) -> std::string {
    if (std::ranges::find(choices, given) != choices.end()) return {};
    return fmt::format("`{}` is not one of {}{}", given, join(choices, ", "),
                       did_you_mean(given, choices));
  };
}

// An option that is not given has an empty text, too: `-o "$name"` without a name must not mean
// that.
auto not_empty(const std::string& type) {
  return [type](std::string_view given) -> std::string {
    return given.empty() ? fmt::format("the value is empty, expected {}", type) : "";
  };
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

auto number_from(std::int64_t least, std::int64_t most) {
  return [least, most](std::string_view given) -> std::string {
    const auto value = whole_number(given);
    if (value && *value >= least && *value <= most) return {};
    return fmt::format("`{}` is not a whole number from {} to {}", given, least, most);
  };
}

// "-o,--output": two names of an option.
std::vector<std::string> names_in(std::string_view names) {
  std::vector<std::string> out;
  for (const std::string_view name : split(names, ',')) out.emplace_back(name);
  return out;
}

// What tools like this one call the same thing. Several rows for a word: the first whose option the
// command has.
struct Alias {
  std::string_view typed;
  std::string_view ours;
  std::string_view value = {};  // that goes with it, where the word stands for a value
};
constexpr Alias kAliases[] = {
    {"--arch", "--target"},
    {"-arch", "--target"},
    {"--gpu-architecture", "--target"},
    {"--gpu-name", "--target"},
    {"--gpu", "--target"},
    {"--sm", "--target"},
    {"-mcpu", "--target"},
    {"--backend", "--device"},
    {"--engine", "--device"},
    {"--function", "--kernel"},
    {"--entry", "--kernel"},
    {"--name", "--kernel"},
    {"-k", "--kernel"},
    {"--ptx", "--emit", "ptx"},
    {"-ptx", "--emit", "ptx"},
    {"--emit-ptx", "--emit", "ptx"},
    {"-S", "--emit", "ptx"},
    {"--cubin", "--emit", "cubin"},
    {"-cubin", "--emit", "cubin"},
    {"--emit-cubin", "--emit", "cubin"},
    {"--cuda", "--emit", "cuda"},
    {"--cuda", "--device", "cuda"},
    {"--emit-cuda", "--emit", "cuda"},
    {"--emit-ir", "--emit", "ir"},
    {"--dump-ir", "--emit", "ir"},
    {"--ir", "--emit", "ir"},
    {"--explain", "--emit", "explain"},
    {"--sim", "--device", "sim"},
    {"--simulate", "--device", "sim"},
    {"--eval", "--device", "eval"},
    {"--format", "--emit"},
    {"--format", "--as"},
    {"--format", "--json"},
    {"--output-format", "--as"},
    {"--output-format", "--json"},
    {"--svg", "--as", "svg"},
    {"--json", "--as", "json"},
    {"-o", "--out"},
    {"--output", "--out"},
    {"--out-file", "--output"},
    {"--out", "--output"},
    {"-out", "--output"},
    {"--input", "--arg"},
    {"--inputs", "--arg"},
    {"--param", "--arg"},
    {"--define", "--arg"},
    {"-D", "--arg"},
    {"--verify", "--expect"},
    {"--assert", "--expect"},
    {"--compare", "--expect"},
    {"--gridDim", "--grid"},
    {"--blocks", "--grid"},
    {"--blockDim", "--block"},
    {"--smem", "--shared"},
    {"--shared-memory", "--shared"},
    {"--sanitize", "--check"},
    {"--memcheck", "--check"},
    {"--racecheck", "--check", "race"},
    {"--profile", "--time"},
    {"--benchmark", "--time"},
    {"--iterations", "--launches"},
    {"--iterations", "--repetitions"},
    {"--iters", "--launches"},
    {"--reps", "--repetitions"},
    {"--repeat", "--repetitions"},
    {"--stats", "--counters"},
    {"--breakpoint", "--break"},
    {"--colour", "--color"},
    {"--no-color", "--color", "never"},
    {"--params", "--space"},
    {"--grid-search", "--space"},
};

// "; did you mean `--target`?", from the table above or by spelling.
std::string suggestion(std::string_view word, std::span<const std::string_view> known) {
  for (const Alias& alias : kAliases) {
    if (alias.typed != word || std::ranges::find(known, alias.ours) == known.end()) continue;
    return fmt::format("; did you mean `{}{}{}`?", alias.ours, alias.value.empty() ? "" : " ",
                       alias.value);
  }
  // Every letter is one slip away from every other.
  return word.size() > 2 ? did_you_mean(word, known) : "";
}

}  // namespace

bool looks_like_option(std::string_view word) { return word.size() > 1 && word.starts_with('-'); }

bool is_known_elsewhere(std::string_view word) {
  return std::ranges::find(kAliases, word, &Alias::typed) != std::end(kAliases);
}

std::string OptionRow::spelling() const {
  return fmt::format("{}{}{}", join(names, ", "), type.empty() ? "" : " ", type);
}

bool OptionRow::takes_file() const {
  const std::string& text = is_argument ? names.front() : type;
  return text.contains("FILE") || text.contains("PATH");
}

// The words of a command line that are still to be read.
struct OptionSet::Reading {
  std::span<const std::string> rest;
  std::optional<std::string_view> next() {
    if (rest.empty()) return std::nullopt;
    const std::string& word = rest.front();
    rest = rest.subspan(1);
    return word;
  }
};

OptionSet::OptionSet() {
  add({.names = {"-h", "--help"}, .help = "show this text"}, &wants_help_);
  choice("--color", "WHEN", color_, kColors,
         "auto (default: on a terminal, unless NO_COLOR is set), always, never");
}

void OptionSet::add(OptionRow row, Variable variable, Check check) {
  rows_.push_back(std::move(row));
  targets_.push_back({variable, std::move(check)});
}

void OptionSet::offer(std::vector<std::string> words) { rows_.back().words = std::move(words); }

void OptionSet::argument(const std::string& name, std::string& value, Need need,
                         const std::string& help) {
  add({.names = {name}, .help = help, .is_argument = true, .need = need}, &value);
}

void OptionSet::argument(const std::string& name, std::string& value, Need need,
                         std::span<const std::string_view> choices, const std::string& help) {
  argument(name, value, need, help);
  offer({choices.begin(), choices.end()});
  targets_.back().check = one_of(choices);
}

void OptionSet::arguments(const std::string& name, std::vector<std::string>& values, Need need,
                          const std::string& help) {
  add({.names = {name}, .help = help, .is_argument = true, .is_repeated = true, .need = need},
      &values);
}

void OptionSet::flag(const std::string& names, bool& value, const std::string& help) {
  add({.names = names_in(names), .help = help}, &value);
}

void OptionSet::text(const std::string& names, const std::string& type, std::string& value,
                     const std::string& help) {
  add({.names = names_in(names), .type = type, .help = help}, &value, not_empty(type));
}

void OptionSet::texts(const std::string& names, const std::string& type,
                      std::vector<std::string>& values, const std::string& help) {
  add({.names = names_in(names), .type = type, .help = help, .is_repeated = true}, &values);
}

void OptionSet::choice(const std::string& names, const std::string& type, std::string& value,
                       std::span<const std::string_view> choices, const std::string& help) {
  add({.names = names_in(names), .type = type, .help = help}, &value, one_of(choices));
  offer({choices.begin(), choices.end()});
}

void OptionSet::number(const std::string& names, std::int64_t& value, std::int64_t least,
                       std::int64_t most, const std::string& help) {
  add({.names = names_in(names), .type = "N", .help = help}, &value, number_from(least, most));
}

std::optional<std::size_t> OptionSet::find(std::string_view name) const {
  const auto has_name = [&](const OptionRow& row) {
    return !row.is_argument && std::ranges::find(row.names, name) != row.names.end();
  };
  const auto found = std::ranges::find_if(rows_, has_name);
  if (found == rows_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - rows_.begin());
}

Diag OptionSet::unknown_option(std::string_view word) const {
  std::vector<std::string_view> known;
  for (const OptionRow& row : rows_)
    if (!row.is_argument) known.insert(known.end(), row.names.rbegin(), row.names.rend());
  return diag(DiagKind::UnknownName, "unknown option `{}`{}", word, suggestion(word, known));
}

// Checks the text of a value and fills the variable with it.
Result<void> OptionSet::give(std::size_t row, std::string_view text) {
  Target& target = targets_[row];
  ++target.times;
  const std::string problem = target.check ? target.check(text) : "";
  if (!problem.empty())
    return fail(DiagKind::BadArgument, "{}: {}", rows_[row].names.back(), problem);
  if (auto* const one = std::get_if<std::string*>(&target.variable)) **one = text;
  if (auto* const all = std::get_if<std::vector<std::string>*>(&target.variable))
    (*all)->emplace_back(text);
  if (auto* const number = std::get_if<std::int64_t*>(&target.variable))
    **number = whole_number(text).value();
  return {};
}

Result<void> OptionSet::take_long(Reading& reading, std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const auto row = find(name);
  if (!row) return fail(unknown_option(name));
  if (auto* const flag = std::get_if<bool*>(&targets_[*row].variable)) {
    if (equals != std::string_view::npos)
      return fail(DiagKind::BadArgument, "`{}` takes no value, here `{}`", name,
                  word.substr(equals + 1));
    **flag = true;
    return {};
  }
  const auto value = equals == std::string_view::npos ? reading.next() : word.substr(equals + 1);
  if (!value || equals + 1 == word.size())
    return fail(DiagKind::BadArgument, "`{}` needs a value", name);
  return give(*row, *value);
}

// `-n VALUE`, `-nVALUE` or several flags.
Result<void> OptionSet::take_short(Reading& reading, std::string_view word) {
  for (std::size_t at = 1; at < word.size(); ++at) {
    const std::string name = {'-', word[at]};
    const auto row = find(name);
    if (!row) return fail(unknown_option(word.substr(0, word.find('='))));
    if (auto* const flag = std::get_if<bool*>(&targets_[*row].variable)) {
      **flag = true;
      continue;
    }
    if (at + 1 < word.size()) return give(*row, word.substr(at + 1));
    const auto value = reading.next();
    if (!value) return fail(DiagKind::BadArgument, "`{}` needs a value", name);
    return give(*row, *value);
  }
  return {};
}

Result<void> OptionSet::take_argument(std::string_view word) {
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const bool is_free = rows_[row].is_repeated || targets_[row].times == 0;
    if (rows_[row].is_argument && is_free) return give(row, word);
  }
  return fail(DiagKind::BadArgument, "unexpected argument `{}`", word);
}

Result<void> OptionSet::check_counts() const {
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const int times = targets_[row].times;
    if (times == 0 && rows_[row].need == Need::Required)
      return fail(DiagKind::BadArgument, "{} is required", rows_[row].names.back());
    if (times > 1 && !rows_[row].is_repeated)
      return fail(DiagKind::BadArgument, "`{}` is given {} times, and takes one value",
                  rows_[row].names.back(), times);
  }
  return {};
}

Result<Asked> OptionSet::parse(std::span<const std::string> args) {
  Reading reading{args};
  Result<void> so_far;  // the first problem; there may still be a --help behind it
  bool only_arguments = false;
  while (const auto word = reading.next()) {
    Result<void> read;
    if (only_arguments || !looks_like_option(*word))
      read = take_argument(*word);
    else if (*word == "--")
      only_arguments = true;
    else
      read = word->starts_with("--") ? take_long(reading, *word) : take_short(reading, *word);
    if (so_far) so_far = std::move(read);
  }
  if (wants_help_) return Asked::Help;
  WW_TRY_VOID(so_far);
  WW_TRY_VOID(check_counts());
  return Asked::Work;
}

std::vector<OptionRow> OptionSet::rows() const {
  std::vector<OptionRow> rows(rows_.begin() + 2, rows_.end());
  std::stable_partition(rows.begin(), rows.end(), std::mem_fn(&OptionRow::is_argument));
  rows.push_back(rows_[1]);  // --color
  rows.push_back(rows_[0]);  // --help
  return rows;
}

}  // namespace ww::cli
