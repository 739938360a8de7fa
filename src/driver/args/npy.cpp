// SPDX-License-Identifier: Apache-2.0
#include "driver/args/npy.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/file_io.h"
#include "base/join.h"
#include "driver/args/npy_header.h"

namespace ww::driver {
namespace {

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

std::optional<DType> numpy_dtype(const NpyItem& item) {
  for (const NumpyType& row : kNumpyTypes)
    if (row.kind == item.kind && row.bytes == item.bytes) return row.dtype;
  return std::nullopt;
}

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
  if (const auto known = numpy_dtype(item)) return fmt::format("`{}`", num::name_of(*known));
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
  const auto known = numpy_dtype(item);
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
