// SPDX-License-Identifier: Apache-2.0
#include "driver/args/npy_header.h"

#include <charconv>
#include <optional>
#include <system_error>

#include "base/ascii.h"

namespace ww::driver {
namespace {

// A few characters of a hostile text, fit to be shown.
std::string shown(std::string_view text) {
  constexpr std::size_t kLimit = 24;
  std::string out;
  for (const char c : text.substr(0, kLimit)) out += c >= ' ' && c <= '~' ? c : '?';
  return text.size() > kLimit ? out + "..." : out;
}

// Reads the part of Python's notation that headers are written in.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  Result<NpyHeader> read() {
    WW_TRY_VOID(expect('{'));
    while (!accepts('}')) {
      WW_TRY_VOID(read_entry());
      if (accepts(',')) continue;
      WW_TRY_VOID(expect('}'));
      break;
    }
    skip_blanks();
    if (at_ != text_.size()) return fail(expected("nothing after the dict"));
    return finished();
  }

 private:
  Result<void> read_entry() {
    const std::string_view key = WW_TRY(read_string());
    WW_TRY_VOID(expect(':'));
    if (key == "descr") return read_descr();
    if (key == "fortran_order") return read_order();
    if (key == "shape") return read_shape();
    return fail(DiagKind::Syntax,
                "the header has a key `{}`; its keys are `descr`, `fortran_order` and `shape`",
                shown(key));
  }

  Result<void> read_descr() {
    if (descr_) return fail(given_twice("descr"));
    skip_blanks();
    if (peek() == '[' || peek() == '(')
      return fail(DiagKind::BadArgument,
                  "the file holds records with fields (`{}`), which no element type represents",
                  shown(text_.substr(at_)));
    descr_ = WW_TRY(read_string());
    return {};
  }

  Result<void> read_order() {
    if (fortran_order_) return fail(given_twice("fortran_order"));
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      fortran_order_ = word == "True";
      return {};
    }
    return fail(expected("`True` or `False`"));
  }

  Result<void> read_shape() {
    if (shape_) return fail(given_twice("shape"));
    shape_.emplace();
    WW_TRY_VOID(expect('('));
    bool needs_comma = false;
    while (!accepts(')')) {
      if (needs_comma) return fail(expected("`,` or `)`"));
      shape_->push_back(WW_TRY(read_extent()));
      needs_comma = !accepts(',');
    }
    // (3) is a number in Python, not a tuple.
    if (shape_->size() == 1 && needs_comma) return fail(expected("`,` before the `)`"));
    return {};
  }

  // A sign is read, so that a negative extent is refused as such and not as a slip of the pen.
  Result<std::int64_t> read_extent() {
    skip_blanks();
    std::int64_t value = 0;
    const char* const begin = text_.data() + at_;
    const auto [stop, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::invalid_argument) return fail(expected("an extent"));
    const std::string_view digits(begin, static_cast<std::size_t>(stop - begin));
    if (error == std::errc::result_out_of_range)
      return fail(DiagKind::TooLarge, "the header's extent {} is beyond 64 bits", shown(digits));
    at_ += digits.size();
    return value;
  }

  // Quotes of either kind; descriptions and keys need no escapes.
  Result<std::string_view> read_string() {
    skip_blanks();
    const char quote = peek();
    if (quote != '\'' && quote != '"') return fail(expected("a text in quotes"));
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return fail(expected("a text whose quotes close"));
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    if (inside.find('\\') != std::string_view::npos)
      return fail(expected("a text without escapes"));
    at_ = end + 1;
    return inside;
  }

  Result<NpyHeader> finished() const;

  void skip_blanks() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool accepts(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Result<void> expect(char c) {
    if (accepts(c)) return {};
    return fail(expected(fmt::format("`{}`", c)));
  }
  [[nodiscard]] Diag expected(std::string_view what) const {
    const std::string_view rest = text_.substr(at_);
    const std::string found = rest.empty() ? "its end" : fmt::format("`{}`", shown(rest));
    return diag(DiagKind::Syntax, "expected {} at byte {} of the header, found {}", what, at_,
                found);
  }
  static Diag given_twice(std::string_view key) {
    return diag(DiagKind::Syntax, "the header has the key `{}` twice", key);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<std::string_view> descr_;
  std::optional<bool> fortran_order_;
  std::optional<std::vector<std::int64_t>> shape_;
};

Result<NpyItem> parse_item(std::string_view descr) {
  const auto refused = [&] {
    return fail(DiagKind::BadArgument, "the description `{}` is not of the form `<f4`",
                shown(descr));
  };
  NpyItem item{.descr = shown(descr)};
  std::string_view rest = descr;
  if (!rest.empty() && std::string_view("<>|=").contains(rest.front())) {
    item.is_big_endian = rest.front() == '>';
    rest.remove_prefix(1);
  }
  if (rest.empty() || !is_letter(rest.front())) return refused();
  item.kind = rest.front();
  rest.remove_prefix(1);
  if (item.kind == 'O' && rest.empty()) rest = "8";  // '|O' says no size
  if (const std::size_t unit = rest.find('['); unit != 0) rest = rest.substr(0, unit);  // <M8[ns]
  std::uint16_t bytes = 0;
  const char* const end = rest.data() + rest.size();
  const auto [stop, error] = std::from_chars(rest.data(), end, bytes);
  if (error != std::errc() || stop != end || bytes == 0) return refused();
  item.bytes = bytes;
  return item;
}

Result<NpyHeader> HeaderReader::finished() const {
  const auto missing = [](std::string_view key) {
    return fail(DiagKind::Syntax, "the header has no key `{}`", key);
  };
  if (!descr_) return missing("descr");
  if (!fortran_order_) return missing("fortran_order");
  if (!shape_) return missing("shape");
  return NpyHeader{WW_TRY(parse_item(*descr_)), *fortran_order_, *shape_};
}

}  // namespace

Result<NpyFile> split_npy(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(kNpyMagic))
    return fail(DiagKind::Syntax, "the file does not begin like a .npy file: found `{}`",
                shown(text.substr(0, kNpyMagic.size())));
  const auto byte_at = [&](std::size_t i) { return std::to_integer<std::size_t>(file[i]); };
  const std::size_t major = text.size() > 6 ? byte_at(6) : 0;
  const std::size_t minor = text.size() > 7 ? byte_at(7) : 0;
  if (text.size() > 7 && (major < 1 || major > 3 || minor != 0))
    return fail(DiagKind::Syntax, "the .npy version is {}.{}; 1.0, 2.0 and 3.0 are known", major,
                minor);
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t begin = 8 + length_bytes;
  if (text.size() < begin)
    return fail(DiagKind::Syntax, "the file ends after {} bytes, before its header", text.size());
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= byte_at(8 + i) << (8 * i);
  if (length > text.size() - begin)
    return fail(DiagKind::Syntax, "the header is {} bytes long, but only {} bytes follow", length,
                text.size() - begin);
  return NpyFile{text.substr(begin, length), file.subspan(begin + length)};
}

Result<NpyHeader> parse_npy_header(std::string_view text) { return HeaderReader(text).read(); }

}  // namespace ww::driver
