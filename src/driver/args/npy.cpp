// SPDX-License-Identifier: Apache-2.0
#include "driver/args/npy.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/check.h"
#include "base/file_io.h"
#include "base/join.h"
#include "base/result.h"

namespace ww::driver {

// --- npy header ----------------------------------------------------------------------------------
//
// The front of a .npy file (driver/args/npy.h): where the header and the data stand, and what the
// header says. It comes from anywhere, so every byte is doubted.

namespace {

/// What every .npy file begins with.
inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

struct NpyFile {
  std::string_view header;
  std::span<const std::byte> data;
};

/// How NumPy describes an item: '<f4' is little-endian, a float, of 4 bytes.
struct NpyItem {
  std::string descr;
  char kind = 'V';
  int bytes = 0;  // 1 to 65535
  bool is_big_endian = false;
};

struct NpyHeader {
  NpyItem item;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

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

// Cuts a file after its header; the parts point into `file`. Syntax when it is no .npy file, its
// version is unknown, or it ends too early.
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

// Reads the dict: each of the three keys once, in any order. Syntax otherwise; BadArgument for a
// description that is no plain item.
Result<NpyHeader> parse_npy_header(std::string_view text) { return HeaderReader(text).read(); }

using num::DType;

constexpr std::size_t kAlignment = 64;

// What NumPy calls our types.
struct NumpyType {
  char kind;
  int bytes;
  DType dtype;
};
constexpr std::array kNumpyTypes = {
    NumpyType{'b', 1, DType::Bool},    NumpyType{'i', 1, DType::Int8},
    NumpyType{'i', 2, DType::Int16},   NumpyType{'i', 4, DType::Int32},
    NumpyType{'i', 8, DType::Int64},   NumpyType{'u', 1, DType::Uint8},
    NumpyType{'u', 2, DType::Uint16},  NumpyType{'u', 4, DType::Uint32},
    NumpyType{'u', 8, DType::Uint64},  NumpyType{'f', 2, DType::Float16},
    NumpyType{'f', 4, DType::Float32}, NumpyType{'f', 8, DType::Float64},
};

}  // namespace

std::optional<DType> numpy_dtype(char kind, int bytes) {
  for (const NumpyType& row : kNumpyTypes)
    if (row.kind == kind && row.bytes == bytes) return row.dtype;
  return std::nullopt;
}

namespace {

bool has_numpy_name(DType type) {
  for (const NumpyType& row : kNumpyTypes)
    if (row.dtype == type) return true;
  return false;
}

// Bytes per element in a file.
int item_bytes(DType type) { return (num::bits_of(type) + 7) / 8; }

// ml_dtypes calls its float8_e5m2 'f1'; other types of a byte could be called so just as well.
bool is_raw(const NpyItem& item) {
  return item.kind == 'V' || (item.kind == 'f' && item.bytes == 1);
}

bool holds_codes_of(const NpyItem& item, DType wanted) {
  if (item.bytes != item_bytes(wanted)) return false;
  if (is_raw(item)) return true;
  if (item.kind == 'f') return wanted == DType::Tfloat32;
  return item.kind == 'u' && !has_numpy_name(wanted);
}

std::string item_text(const NpyItem& item) {
  if (const auto known = numpy_dtype(item.kind, item.bytes))
    return fmt::format("`{}`", num::name_of(*known));
  if (is_raw(item)) return fmt::format("raw items of {} bytes (`{}`)", item.bytes, item.descr);
  return fmt::format("`{}`", item.descr);
}

// The 'V' of a type that is not a number at all, in words.
std::string_view meaning_of_kind(char kind) {
  switch (kind) {
    case 'O':
      return "Python objects";
    case 'c':
      return "complex numbers";
    case 'S':
    case 'a':
    case 'U':
      return "text";
    case 'M':
    case 'm':
      return "dates";
    default:
      return "";
  }
}

Result<DType> choose_dtype(const NpyItem& item, std::optional<DType> wanted) {
  const auto known = numpy_dtype(item.kind, item.bytes);
  if (known && (!wanted || *wanted == *known)) return *known;
  if (wanted && holds_codes_of(item, *wanted)) return *wanted;
  if (const auto meaning = meaning_of_kind(item.kind); !meaning.empty())
    return fail(DiagKind::BadArgument, "the file holds {} (`{}`), which no element type represents",
                meaning, item.descr);
  if (wanted)
    return fail(DiagKind::BadArgument, "the file holds {}; `{}` is wanted", item_text(item),
                num::name_of(*wanted));
  if (is_raw(item))
    return fail(diag(DiagKind::BadArgument, "the file holds {} and does not say of which type",
                     item_text(item))
                    .with_note("name the element type, such as `bfloat16` for two bytes or "
                               "`float8_e4m3fn` for one"));
  return fail(DiagKind::BadArgument, "the file holds `{}`, which is not an element type",
              item.descr);
}

// For each element in C order, its place in Fortran order (the first dimension fastest).
class FortranWalk {
 public:
  explicit FortranWalk(const std::vector<std::int64_t>& shape)
      : shape_(shape), at_(shape.size(), 0), strides_(shape.size(), 1) {
    for (std::size_t d = 1; d < shape.size(); ++d) strides_[d] = strides_[d - 1] * shape[d - 1];
  }
  [[nodiscard]] std::int64_t place() const { return place_; }
  void step() {
    for (std::size_t d = shape_.size(); d-- > 0;) {
      place_ += strides_[d];
      if (++at_[d] < shape_[d]) return;
      place_ -= strides_[d] * shape_[d];
      at_[d] = 0;
    }
  }

 private:
  const std::vector<std::int64_t>& shape_;
  std::vector<std::int64_t> at_;
  std::vector<std::int64_t> strides_;
  std::int64_t place_ = 0;
};

std::uint64_t load_item(const std::byte* from, int bytes, bool is_big) {
  std::uint64_t bits = 0;
  for (int i = 0; i < bytes; ++i) {
    const int shift = 8 * (is_big ? bytes - 1 - i : i);
    bits |= std::to_integer<std::uint64_t>(from[i]) << shift;
  }
  return bits;
}

// Bytes of a type narrower than a byte must not use the rest, but for the sign of an int4.
bool is_code(DType type, std::uint64_t bits) {
  const int width = num::bits_of(type);
  if (width >= 8) return true;
  const std::uint64_t rest = bits >> width;
  return rest == 0 || (type == DType::Int4 && rest == 0xF && (bits & 8U) != 0);
}

Result<void> copy_items(const NpyItem& item, bool fortran_order, std::span<const std::byte> data,
                        Array& out) {
  const std::int64_t count = out.size();
  FortranWalk walk(out.shape);
  for (std::int64_t i = 0; i < count; ++i, walk.step()) {
    const std::int64_t from = fortran_order ? walk.place() : i;
    const std::byte* place = data.data() + from * item.bytes;
    const std::uint64_t bits = load_item(place, item.bytes, item.is_big_endian);
    if (!is_code(out.dtype, bits))
      return fail(DiagKind::BadArgument, "element {} is the byte 0x{:02x}; `{}` has {} bits", i,
                  bits, num::name_of(out.dtype), num::bits_of(out.dtype));
    out.set_bits(i, bits);
  }
  return {};
}

Result<void> check_length(const NpyHeader& header, std::size_t data_bytes) {
  const std::int64_t count = WW_TRY(element_count(header.shape));
  const std::int64_t needed = count * header.item.bytes;  // 2^38 · 2^16 at most
  if (static_cast<std::size_t>(needed) == data_bytes) return {};
  return fail(DiagKind::BadArgument,
              "the file has {} bytes of data; the shape {} of `{}` needs {} bytes", data_bytes,
              shape_text(header.shape), header.item.descr, needed);
}

std::string descr_of(DType type) {
  const int bytes = item_bytes(type);
  char kind = type == DType::Tfloat32 ? 'f' : 'V';
  for (const NumpyType& row : kNumpyTypes)
    if (row.dtype == type) kind = row.kind;
  return fmt::format("{}{}{}", bytes == 1 ? '|' : '<', kind, bytes);
}

// As Python writes a tuple: (), (3,), (3, 4).
std::string tuple_text(std::span<const std::int64_t> shape) {
  return fmt::format("({}{})", join(shape, ", "), shape.size() == 1 ? "," : "");
}

}  // namespace

Result<Array> parse_npy(std::span<const std::byte> file, std::optional<DType> wanted) {
  const NpyFile parts = WW_TRY(split_npy(file));
  const NpyHeader header = WW_TRY(parse_npy_header(parts.header));
  const DType dtype = WW_TRY(choose_dtype(header.item, wanted));
  WW_TRY_VOID(check_length(header, parts.data.size()));
  Array out = WW_TRY(Array::zeros(dtype, header.shape));
  if (out.data.size() == parts.data.size() && num::bits_of(dtype) % 8 == 0 &&
      !header.item.is_big_endian && !header.fortran_order) {
    if (!out.data.empty()) std::memcpy(out.data.data(), parts.data.data(), out.data.size());
    return out;
  }
  WW_TRY_VOID(copy_items(header.item, header.fortran_order, parts.data, out));
  return out;
}

namespace {

// The first bytes of a file that can be read twice, so that one of another format is refused before the
// rest is read.
std::optional<std::string> beginning_of(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kNpyMagic.size(), '\0');
  file.read(bytes.data(), std::ssize(bytes));
  if (file.gcount() != std::ssize(bytes)) return std::nullopt;
  return bytes;
}

}  // namespace

Result<Array> read_npy(const std::string& path, std::size_t max_bytes,
                       std::optional<num::DType> wanted) {
  const auto read = [&]() -> Result<std::string> {
    auto first = beginning_of(path);
    if (first && *first != kNpyMagic) return *std::move(first);
    return read_file(path, max_bytes);
  };
  const std::string text = WW_TRY(read());
  auto array = parse_npy(std::as_bytes(std::span(text)), wanted);
  if (!array) array.error().text = fmt::format("`{}`: {}", path, array.error().text);
  return array;
}

std::string to_npy(const Array& array) {
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                   descr_of(array.dtype), tuple_text(array.shape));
  constexpr std::size_t kBefore = 10;  // magic, version, length
  const std::size_t used = kBefore + header.size() + 1;
  header.append((kAlignment - used % kAlignment) % kAlignment, ' ');
  header += '\n';
  WW_CHECK(header.size() <= 0xFFFF, "a header of {} bytes", header.size());

  std::string out(kNpyMagic);
  out += '\x01';
  out += '\x00';
  out += static_cast<char>(header.size() & 0xFFU);
  out += static_cast<char>(header.size() >> 8U);
  out += header;
  if (num::bits_of(array.dtype) % 8 == 0)
    return out.append(reinterpret_cast<const char*>(array.data.data()), array.data.size());
  for (std::int64_t i = 0; i < array.size(); ++i) out += static_cast<char>(array.bits(i));
  return out;
}

}  // namespace ww::driver
