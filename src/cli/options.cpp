// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <functional>
#include <system_error>

#include "base/suggest.h"

namespace ww::cli {
namespace {

std::vector<std::string> names_of(const CLI::Option& option) {
  if (option.get_positional()) return {option.get_name(true)};
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

// A check that CLI11 runs on the text of a value; it returns what is wrong, or nothing.
CLI::Validator one_of(std::span<const std::string_view> choices) {
  return {[choices](const std::string& given) -> std::string {
            if (std::ranges::find(choices, given) != choices.end()) return {};
            return fmt::format("`{}` is not one of {}{}", given, fmt::join(choices, ", "),
                               did_you_mean(given, choices));
          },
          ""};
}

// An option that is not given has an empty text, too: `-o "$name"` without a name must not mean
// that.
CLI::Validator not_empty(const std::string& type) {
  return {[type](const std::string& given) -> std::string {
            return given.empty() ? fmt::format("the value is empty, expected {}", type) : "";
          },
          ""};
}

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return {[least, most](const std::string& given) -> std::string {
            std::int64_t value = 0;
            const char* end = given.data() + given.size();
            const auto [rest, error] = std::from_chars(given.data(), end, value);
            if (error == std::errc() && rest == end && value >= least && value <= most) return {};
            return fmt::format("`{}` is not a whole number from {} to {}", given, least, most);
          },
          ""};
}

// CLI11's "--as: At Most 1 required but received 2" and "--as: 1 required TEXT missing", told apart
// by how often the option was seen.
Diag wrong_count(const CLI::App& app, const std::string& message) {
  const std::string name = message.substr(0, message.find(':'));
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr) return diag(DiagKind::BadArgument, "{}", message);
  if (option->count() < 2) return diag(DiagKind::BadArgument, "`{}` needs a value", name);
  return diag(DiagKind::BadArgument, "`{}` is given {} times, and takes one value", name,
              option->count());
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
  return fmt::format("{}{}{}", fmt::join(names, ", "), type.empty() ? "" : " ", type);
}

bool OptionRow::takes_file() const {
  const std::string& text = is_argument ? names.front() : type;
  return text.contains("FILE") || text.contains("PATH");
}

OptionSet::OptionSet() : app_(std::make_unique<CLI::App>()) {
  app_->set_help_flag("-h,--help", "show this text");
  choice("--color", "WHEN", color_, kColors,
         "auto (default: on a terminal, unless NO_COLOR is set), always, never");
}

OptionSet::~OptionSet() = default;

CLI::Option& OptionSet::remember(CLI::Option* option, const std::string& type,
                                 const std::string& help,
                                 std::span<const std::string_view> choices) {
  rows_.push_back({.names = names_of(*option),
                   .type = type,
                   .help = help,
                   .is_argument = option->get_positional(),
                   .need = option->get_required() ? Need::Required : Need::Optional,
                   .words = {choices.begin(), choices.end()}});
  if (!choices.empty()) option->check(one_of(choices));
  return *option;
}

void OptionSet::offer(std::vector<std::string> words) { rows_.back().words = std::move(words); }

void OptionSet::argument(const std::string& name, std::string& value, Need need,
                         const std::string& help) {
  remember(app_->add_option(name, value)->required(need == Need::Required), "", help);
}

void OptionSet::argument(const std::string& name, std::string& value, Need need,
                         std::span<const std::string_view> choices, const std::string& help) {
  remember(app_->add_option(name, value)->required(need == Need::Required), "", help, choices);
}

void OptionSet::arguments(const std::string& name, std::vector<std::string>& values, Need need,
                          const std::string& help) {
  remember(app_->add_option(name, values)->required(need == Need::Required), "", help);
  rows_.back().is_repeated = true;
}

void OptionSet::flag(const std::string& names, bool& value, const std::string& help) {
  remember(app_->add_flag(names, value), "", help);
}

void OptionSet::text(const std::string& names, const std::string& type, std::string& value,
                     const std::string& help) {
  remember(app_->add_option(names, value), type, help).check(not_empty(type));
}

void OptionSet::texts(const std::string& names, const std::string& type,
                      std::vector<std::string>& values, const std::string& help) {
  // One value per mention and all mentions kept; CLI11 would give it every word that follows.
  remember(app_->add_option(names, values), type, help)
      .expected(1)
      ->allow_extra_args(false)
      ->take_all();
  rows_.back().is_repeated = true;
}

void OptionSet::choice(const std::string& names, const std::string& type, std::string& value,
                       std::span<const std::string_view> choices, const std::string& help) {
  remember(app_->add_option(names, value), type, help, choices);
}

void OptionSet::number(const std::string& names, std::int64_t& value, std::int64_t least,
                       std::int64_t most, const std::string& help) {
  remember(app_->add_option(names, value), "N", help).check(whole_number(least, most));
}

Diag OptionSet::unexpected_word() const {
  const std::vector<std::string> rest = app_->remaining();
  const auto option = std::ranges::find_if(rest, looks_like_option);
  if (option == rest.end()) {
    return diag(DiagKind::BadArgument, "unexpected argument `{}`", rest.empty() ? "" : rest[0]);
  }
  std::vector<std::string> names;
  for (const CLI::Option* known : app_->get_options()) {
    for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : known->get_snames()) names.push_back("-" + name);
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string word = option->substr(0, option->find('='));
  return diag(DiagKind::UnknownName, "unknown option `{}`{}", word, suggestion(word, known));
}

Result<Asked> OptionSet::parse(std::span<const std::string> args) {
  try {
    app_->parse(
        std::vector<std::string>(args.rbegin(), args.rend()));  // CLI11 wants the last first
    return Asked::Work;
  } catch (const CLI::CallForHelp&) {
    return Asked::Help;
  } catch (const CLI::ExtrasError&) {
    return fail(unexpected_word());
  } catch (const CLI::ArgumentMismatch& error) {
    return fail(wrong_count(*app_, error.what()));
  } catch (const CLI::ParseError& error) {
    return fail(DiagKind::BadArgument, "{}", error.what());
  }
}

std::vector<OptionRow> OptionSet::rows() const {
  std::vector<OptionRow> rows(rows_.begin() + 1, rows_.end());
  std::stable_partition(rows.begin(), rows.end(), std::mem_fn(&OptionRow::is_argument));
  rows.push_back(rows_.front());  // --color
  rows.push_back({.names = {"-h", "--help"}, .help = "show this text"});
  return rows;
}

}  // namespace ww::cli
