// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/suggest.h"

namespace ww::cli {
namespace {

// "-o, --output FILE"
std::string spelling_of(const CLI::Option& option, const std::string& type) {
  if (option.get_positional()) return option.get_name(true);
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return fmt::format("{}{}{}", fmt::join(names, ", "), type.empty() ? "" : " ", type);
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

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return {[least, most](const std::string& given) -> std::string {
            std::int64_t value = 0;
            const char* end = given.data() + given.size();
            const auto [rest, error] = std::from_chars(given.data(), end, value);
            if (error == std::errc() && rest == end && value >= least && value <= most) return {};
            return fmt::format("`{}` is no whole number from {} to {}", given, least, most);
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

bool looks_like_option(std::string_view word) { return word.size() > 1 && word.starts_with('-'); }

}  // namespace

OptionSet::OptionSet() : app_(std::make_unique<CLI::App>()) {
  app_->set_help_flag("-h,--help", "show this text");
}

OptionSet::~OptionSet() = default;

CLI::Option& OptionSet::remember(CLI::Option* option, const std::string& type,
                                 const std::string& help) {
  rows_.push_back({.spelling = spelling_of(*option, type),
                   .help = help,
                   .is_argument = option->get_positional(),
                   .need = option->get_required() ? Need::Required : Need::Optional});
  return *option;
}

void OptionSet::argument(const std::string& name, std::string& value, Need need,
                         const std::string& help) {
  remember(app_->add_option(name, value)->required(need == Need::Required), "", help);
}

void OptionSet::argument(const std::string& name, std::string& value, Need need,
                         std::span<const std::string_view> choices, const std::string& help) {
  CLI::Option* option = app_->add_option(name, value)->required(need == Need::Required);
  remember(option, "", help).check(one_of(choices));
}

void OptionSet::arguments(const std::string& name, std::vector<std::string>& values, Need need,
                          const std::string& help) {
  remember(app_->add_option(name, values)->required(need == Need::Required), "", help);
}

void OptionSet::flag(const std::string& names, bool& value, const std::string& help) {
  remember(app_->add_flag(names, value), "", help);
}

void OptionSet::text(const std::string& names, const std::string& type, std::string& value,
                     const std::string& help) {
  remember(app_->add_option(names, value), type, help);
}

void OptionSet::texts(const std::string& names, const std::string& type,
                      std::vector<std::string>& values, const std::string& help) {
  // One value per mention and all mentions kept; CLI11 would give it every word that follows.
  remember(app_->add_option(names, values), type, help)
      .expected(1)
      ->allow_extra_args(false)
      ->take_all();
}

void OptionSet::choice(const std::string& names, const std::string& type, std::string& value,
                       std::span<const std::string_view> choices, const std::string& help) {
  remember(app_->add_option(names, value), type, help).check(one_of(choices));
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
  return diag(DiagKind::UnknownName, "unknown option `{}`{}", word, did_you_mean(word, known));
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
  std::vector<OptionRow> rows = rows_;
  std::ranges::stable_partition(rows, &OptionRow::is_argument);
  rows.push_back({.spelling = "-h, --help", .help = "show this text"});
  return rows;
}

}  // namespace ww::cli
