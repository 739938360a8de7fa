// SPDX-License-Identifier: Apache-2.0
#include "driver/tune/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/ascii.h"
#include "base/result.h"
#include "base/source.h"
#include "base/suggest.h"
#include "base/wide.h"
#include "driver/args/file_plan.h"
#include "driver/report_parts.h"
#include "script/compile.h"

namespace ww::driver {
namespace {

constexpr std::size_t kMaxCombinations = 10'000;
constexpr std::string_view kTwoKernels =
    "`--kernel 'build(BM=?)' --space BM=64,128` tries two kernels";

/// A part of a text, without the blanks around it.
struct TextPart {
  std::string_view text;
  Span span;
};

TextPart piece_of(std::string_view text, std::size_t begin, std::size_t end) {
  while (begin < end && is_space(text[begin])) ++begin;
  while (end > begin && is_space(text[end - 1])) --end;
  return {text.substr(begin, end - begin), Span::at(begin, end)};
}

// Calls visit(place, depth) for each character outside of Python's texts; depth counts brackets.
template <typename Visit>
void for_each_code_char(std::string_view text, std::size_t begin, Visit&& visit) {
  char quote = 0;
  int depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\')
        ++i;
      else if (c == quote)
        quote = 0;
      continue;
    }
    if (c == '\'' || c == '"') quote = c;
    if (c == ')' || c == ']' || c == '}') --depth;
    visit(i, depth);
    if (c == '(' || c == '[' || c == '{') ++depth;
  }
}

// What is between commas, those inside of brackets and texts left alone.
std::vector<TextPart> split_list(std::string_view text, std::size_t begin) {
  std::vector<TextPart> out;
  for_each_code_char(text, begin, [&](std::size_t i, int depth) {
    if (text[i] != ',' || depth != 0) return;
    out.push_back(piece_of(text, begin, i));
    begin = i + 1;
  });
  out.push_back(piece_of(text, begin, text.size()));
  return out;
}

// --- ranges --------------------------------------------------------------------------------------

// `64..256*2` is 64, 128, 256; `1..4` and `2..8+3` count by 1 and by 3.
struct Range {
  std::int64_t first = 0, last = 0, step = 1;
  bool multiplies = false;
};

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

// Where `..` stands, outside of texts; host expressions have no use for it.
std::optional<std::size_t> dots_in(std::string_view text) {
  std::optional<std::size_t> out;
  for_each_code_char(text, 0, [&](std::size_t i, int) {
    if (!out && text.substr(i).starts_with("..")) out = i;
  });
  return out;
}

constexpr std::string_view kRanges = "`64..256*2` is 64, 128, 256; `2..8+3` is 2, 5, 8";

Result<Range> range_of(std::string_view text, std::size_t dots) {
  const std::size_t step = text.find_first_of("*+", dots);
  const auto first = whole_number(text.substr(0, dots));
  const auto last =
      whole_number(text.substr(dots + 2, step == std::string_view::npos ? step : step - dots - 2));
  const auto by = step == std::string_view::npos ? 1 : whole_number(text.substr(step + 1));
  if (!first || !last || !by)
    return fail(diag(DiagKind::BadArgument,
                     "`{}` is not a range: expected `FIRST..LAST`, `FIRST..LAST+STEP` or "
                     "`FIRST..LAST*FACTOR` in whole numbers of 64 bits",
                     text)
                    .with_note(std::string(kRanges)));
  return Range{*first, *last, *by, step != std::string_view::npos && text[step] == '*'};
}

Result<std::vector<std::int64_t>> numbers_of(const Range& range) {
  if (range.first > range.last)
    return fail(
        diag(DiagKind::BadArgument, "the range from {} to {} is empty", range.first, range.last)
            .with_note(std::string(kRanges)));
  const bool grows = range.multiplies ? range.first > 0 && range.step > 1 : range.step > 0;
  if (!grows)
    return fail(diag(DiagKind::BadArgument, "the range from {} to {} by {}{} never ends there",
                     range.first, range.last, range.multiplies ? "*" : "+", range.step)
                    .with_note(std::string(kRanges)));
  std::vector<std::int64_t> out;
  for (std::optional<std::int64_t> i = range.first; i && *i <= range.last;
       i = range.multiplies ? checked_mul(*i, range.step) : checked_add(*i, range.step)) {
    if (out.size() == kMaxCombinations)
      return fail(DiagKind::TooLarge, "the range has more than {} values", kMaxCombinations);
    out.push_back(*i);
  }
  return out;
}

Diag moved(Diag problem, std::size_t by) {
  const auto move = [by](Span& span) {
    if (span.known) span = Span::at(span.begin + by, span.end + by);
  };
  move(problem.span);
  for (Note& note : problem.notes) move(note.span);
  return problem;
}

std::vector<std::string_view> names_of(const std::vector<SpaceAxis>& axes) {
  std::vector<std::string_view> out;
  for (const SpaceAxis& axis : axes) out.emplace_back(axis.name);
  return out;
}

}  // namespace

/// One request from its texts to combinations, step by step. A step that fails has said why.
class SpaceReader {
 public:
  SpaceReader(const SpaceRequest& request, std::string& errors)
      : request_(request), errors_(errors) {
    out_.kernel_ = request.kernel;
  }

  std::optional<TuneSpace> go() {
    if (!check_kernel() || !find_gaps()) return std::nullopt;
    bool good = check_wheres();
    for (const std::string& text : request_.spaces) good &= read_axis(text);
    good = check_gaps() && good;
    if (!good || !combine()) return std::nullopt;
    return std::move(out_);
  }

 private:
  using Gap = TuneSpace::Gap;

  bool check_kernel();
  bool check_wheres();
  bool find_gaps();
  Result<Gap> gap_at(std::size_t question) const;
  bool read_axis(const std::string& text);
  Result<void> add_value(SpaceAxis& axis, const TextPart& piece);
  static Result<void> add_host_value(SpaceAxis& axis, const TextPart& piece);
  bool check_gaps();
  bool combine();
  bool keeps(const Combination& combination, bool& good);
  [[nodiscard]] std::vector<script::HostName> names(const Combination& combination) const;

  bool refuse(const Diag& problem, std::string_view option, const std::string& text) {
    errors_ += render(problem, SourceText(std::string(option), text));
    return false;
  }

  const SpaceRequest& request_;
  std::string& errors_;
  TuneSpace out_;
};

// --- texts ---------------------------------------------------------------------------------------

bool SpaceReader::check_kernel() {
  std::string text = request_.kernel;
  if (text.empty()) return true;  // said where gaps are missed
  if (text.starts_with('@'))
    return refuse(diag_at(Span::at(0, text.size()), DiagKind::BadArgument,
                          "`{}` is a file: expected an expression with `?`", text)
                      .with_note(std::string(kTwoKernels)),
                  "--kernel", text);
  for_each_code_char(request_.kernel, 0, [&](std::size_t i, int) {
    if (text[i] == '?') text[i] = '0';
  });
  const auto checked = script::check_kernel_syntax(text);
  return checked ? true : refuse(checked.error(), "--kernel", request_.kernel);
}

bool SpaceReader::check_wheres() {
  bool good = true;
  for (const std::string& text : request_.wheres)
    if (const auto checked = script::check_host_syntax(text); !checked)
      good = refuse(checked.error(), "--where", text);
  return good;
}

// --- gaps ----------------------------------------------------------------------------------------

Result<SpaceReader::Gap> SpaceReader::gap_at(std::size_t question) const {
  const std::string_view text = request_.kernel;
  const Span span = Span::at(question, question + 1);
  const TextPart before = piece_of(text, 0, question);
  const TextPart after = piece_of(text, question + 1, text.size());
  const bool has_equals = before.text.ends_with('=');
  const std::size_t end = piece_of(text, 0, before.span.end - (has_equals ? 1 : 0)).span.end;
  std::size_t begin = end;
  while (begin > 0 && is_name_char(text[begin - 1])) --begin;
  const std::string_view name = text.substr(begin, end - begin);
  if (!has_equals || !is_identifier(name))
    return fail(diag_at(span, DiagKind::Syntax, "`?` is not the value of a keyword")
                    .with_note("write `build(BM=?)`, and `--space BM=64,128` for its values"));
  if (!after.text.starts_with(',') && !after.text.starts_with(')'))
    return fail(diag_at(span, DiagKind::Syntax, "`?` is only a part of the value of `{}`", name)
                    .with_note("it stands for a whole value"));
  return Gap{std::string(name), Span::at(begin, question + 1)};
}

bool SpaceReader::find_gaps() {
  const std::string& text = request_.kernel;
  bool good = true;
  for_each_code_char(text, 0, [&](std::size_t i, int) {
    if (text[i] != '?') return;
    auto gap = gap_at(i);
    if (gap)
      out_.gaps_.push_back(*std::move(gap));
    else
      good = refuse(gap.error(), "--kernel", text);
  });
  if (!good || !out_.gaps_.empty()) return good;
  errors_ += render(diag(DiagKind::BadArgument, "{}",
                         text.empty() ? "`--kernel` is missing: it says what to tune"
                                      : "`--kernel` has no `?`: nothing is left to "
                                        "choose")
                        .with_note(std::string(kTwoKernels)));
  return false;
}

// --- values --------------------------------------------------------------------------------------

Result<void> SpaceReader::add_host_value(SpaceAxis& axis, const TextPart& piece) {
  if (piece.text.empty()) return fail_at(piece.span, DiagKind::Syntax, "a value is missing");
  std::optional<std::size_t> comment;  // it would hide what comes behind the value
  for_each_code_char(piece.text, 0, [&](std::size_t i, int) {
    if (piece.text[i] == '#' && !comment) comment = piece.span.begin + i;
  });
  if (comment)
    return fail_at(Span::at(*comment, piece.span.end), DiagKind::Syntax, "a value with a comment");
  auto value = script::evaluate_host(piece.text);
  if (!value) return fail(moved(std::move(value).error(), piece.span.begin));
  const auto same = std::ranges::find(axis.values, *value);
  if (same != axis.values.end()) {
    const auto& first = axis.texts[static_cast<std::size_t>(same - axis.values.begin())];
    const auto as = first == piece.text ? std::string() : fmt::format(", first as `{}`", first);
    return fail_at(piece.span, DiagKind::BadArgument, "`{}` is there twice{}", piece.text, as);
  }
  axis.values.push_back(*std::move(value));
  axis.texts.emplace_back(piece.text);
  return {};
}

Result<void> SpaceReader::add_value(SpaceAxis& axis, const TextPart& piece) {
  const auto dots = dots_in(piece.text);
  if (!dots) return add_host_value(axis, piece);
  const auto range = range_of(piece.text, *dots);
  if (!range) return fail(Diag(range.error()).with_span(piece.span));
  const auto numbers = numbers_of(*range);
  if (!numbers) return fail(Diag(numbers.error()).with_span(piece.span));
  for (const std::int64_t number : *numbers)
    WW_TRY_VOID(add_host_value(axis, {std::to_string(number), piece.span}));
  return {};
}

bool SpaceReader::read_axis(const std::string& text) {
  const auto given = cut_assignment(text, "VALUE,VALUE...");
  if (!given) return refuse(given.error(), "--space", text);
  std::vector<std::string_view> known;
  for (const Gap& gap : out_.gaps_) known.emplace_back(gap.name);
  if (std::ranges::find(known, given->name) == known.end())
    return refuse(
        diag_at(given->name_span, DiagKind::UnknownName, "no `{}=?` in the kernel expression{}",
                given->name, did_you_mean(given->name, known)),
        "--space", text);
  if (std::ranges::find(out_.axes_, given->name, &SpaceAxis::name) != out_.axes_.end())
    return refuse(diag_at(given->name_span, DiagKind::BadArgument,
                          "`{}` has got its values already", given->name),
                  "--space", text);
  // Report errors in the values once; the name counts as given.
  SpaceAxis& axis = out_.axes_.emplace_back(SpaceAxis{given->name, {}, {}});
  for (const TextPart& piece : split_list(text, given->value_span.begin))
    if (const auto added = add_value(axis, piece); !added)
      return refuse(added.error(), "--space", text);
  return true;
}

bool SpaceReader::check_gaps() {
  const std::vector<std::string_view> given = names_of(out_.axes_);
  bool good = true;
  for (const Gap& gap : out_.gaps_)
    if (std::ranges::find(given, gap.name) == given.end())
      good = refuse(diag_at(gap.span, DiagKind::BadArgument, "`{}=?` has no values", gap.name)
                        .with_note(fmt::format("give them: `--space {}=64,128`", gap.name)),
                    "--kernel", request_.kernel);
  return good;
}

// --- combinations --------------------------------------------------------------------------------

std::vector<script::HostName> SpaceReader::names(const Combination& combination) const {
  std::vector<script::HostName> out;
  for (std::size_t i = 0; i < combination.size(); ++i)
    out.push_back({out_.axes_[i].name, out_.axes_[i].texts[combination[i]]});
  return out;
}

// Whether all `--where` hold; `good` becomes false where one makes no sense.
bool SpaceReader::keeps(const Combination& combination, bool& good) {
  const auto values = names(combination);
  for (const std::string& text : request_.wheres) {
    auto value = script::evaluate_host(text, values);
    const auto* const truth = value ? std::get_if<bool>(&value->value) : nullptr;
    if (truth != nullptr && *truth) continue;
    if (truth != nullptr) return false;
    Diag problem = value ? diag_at(Span::at(0, text.size()), DiagKind::BadType,
                                   "the condition gives neither True nor False")
                         : std::move(value).error();
    std::string given;
    for (const script::HostName& each : values)
      given += fmt::format("{}{}={}", given.empty() ? "" : ", ", each.name, each.value);
    problem.notes.push_back({fmt::format("with {}", given), {}});
    return good = refuse(problem, "--where", text);
  }
  return true;
}

bool SpaceReader::combine() {
  std::size_t count = 1;
  for (const SpaceAxis& axis : out_.axes_) {
    count *= axis.values.size();
    if (count <= kMaxCombinations) continue;
    errors_ += render(
        diag(DiagKind::TooLarge, "the values make more than {} combinations", kMaxCombinations));
    return false;
  }
  bool good = true;
  for (std::size_t number = 0; number < count && good; ++number) {
    Combination combination(out_.axes_.size());
    std::size_t rest = number;
    for (std::size_t i = combination.size(); i-- > 0;) {
      combination[i] = rest % out_.axes_[i].values.size();
      rest /= out_.axes_[i].values.size();
    }
    if (keeps(combination, good))
      out_.combinations_.push_back(std::move(combination));
    else
      ++out_.left_out_;
  }
  if (!good || !out_.combinations_.empty()) return good;
  errors_ += render(
      diag(DiagKind::BadArgument, "`--where` leaves none of {}", plural(count, "combination")));
  return false;
}

// -------------------------------------------------------------------------------------------------

std::optional<TuneSpace> TuneSpace::read(const SpaceRequest& request, std::string& errors) {
  return SpaceReader(request, errors).go();
}

std::string TuneSpace::kernel(const Combination& combination) const {
  std::string out;
  std::size_t at = 0;
  for (const Gap& gap : gaps_) {
    const auto axis = std::ranges::find(axes_, gap.name, &SpaceAxis::name);
    const auto which = static_cast<std::size_t>(axis - axes_.begin());
    out.append(kernel_, at, gap.span.end - 1 - at);
    out += axis->texts[combination[which]];
    at = gap.span.end;
  }
  return out.append(kernel_, at);
}

}  // namespace ww::driver
