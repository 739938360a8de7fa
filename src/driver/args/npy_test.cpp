// SPDX-License-Identifier: Apache-2.0
#include "driver/args/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace ww::driver::args_npy_test {
namespace {

using namespace std::string_literals;
using num::DType;
using Shape = std::vector<std::int64_t>;

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
Result<Array> parse(std::string_view file, std::optional<DType> wanted = std::nullopt) {
  return parse_npy(as_bytes(file), wanted);
}

// A file of version 1.0 around a header and data, without padding.
std::string file_of(const std::string& header, const std::string& data) {
  const auto length = static_cast<char>(header.size());
  return "\x93NUMPY\x01\x00"s + length + '\0' + header + data;
}
std::string header_of(const std::string& descr, const std::string& shape,
                      const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

std::vector<double> values_of(const Array& array) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < array.size(); ++i) out.push_back(array.get(i));
  return out;
}

// Magic, version 1.0, a header of 118 bytes (10 + 118 = 2 * 64), two rows of uint16. By hand from
// NumPy's definition of the format.
const std::string kGolden =
    "\x93NUMPY"
    "\x01\x00"
    "\x76\x00"s
    "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 1), }" +
    std::string(58, ' ') + "\n" + "\x01\x02\xFF\x00"s;

Array golden_array() {
  Array array = *Array::zeros(DType::Uint16, {2, 1});
  array.set_bits(0, 0x0201);
  array.set_bits(1, 0x00FF);
  return array;
}

TEST(ToNpy, WritesTheFormatByteForByte) { EXPECT_EQ(to_npy(golden_array()), kGolden); }

TEST(ParseNpy, ReadsTheFormat) { EXPECT_EQ(*parse(kGolden), golden_array()); }

TEST(ToNpy, DataIsAlignedAndTuplesArePythons) {
  for (const auto& [shape, text] : std::vector<std::pair<Shape, std::string>>{
           {{}, "()"}, {{3}, "(3,)"}, {{3, 4}, "(3, 4)"}, {{0, 2}, "(0, 2)"}}) {
    const Array array = *Array::zeros(DType::Float32, shape);
    const std::string file = to_npy(array);
    EXPECT_EQ((file.size() - array.data.size()) % 64, 0U);
    EXPECT_EQ(file[file.size() - array.data.size() - 1], '\n');
    EXPECT_TRUE(file.contains("'shape': " + text + ", }")) << file;
    EXPECT_EQ(*parse(file), array);
  }
}

TEST(ToNpy, NamesTypesAsNumpyAndMlDtypesDo) {
  const std::vector<std::pair<DType, std::string>> cases = {
      {DType::Bool, "|b1"},         {DType::Int8, "|i1"},         {DType::Int64, "<i8"},
      {DType::Uint32, "<u4"},       {DType::Float16, "<f2"},      {DType::Float64, "<f8"},
      {DType::Tfloat32, "<f4"},     {DType::Bfloat16, "<V2"},     {DType::Float8E4M3fn, "|V1"},
      {DType::Float6E2M3fn, "|V1"}, {DType::Float4E2M1fn, "|V1"}, {DType::Int4, "|V1"},
  };
  for (const auto& [type, descr] : cases)
    EXPECT_TRUE(to_npy(*Array::zeros(type, {1})).contains("'descr': '" + descr + "'"))
        << num::name_of(type);
}

TEST(Npy, EveryTypeComesBackWhenNamed) {
  for (const DType type : num::all_dtypes()) {
    Array array = *Array::zeros(type, {3, 5});
    for (std::int64_t i = 0; i < array.size(); ++i)
      array.set_bits(i, 0x9E3779B97F4A7C15U >> (i % 8));
    const auto back = parse(to_npy(array), type);
    ASSERT_TRUE(back) << num::name_of(type) << ": " << back.error().text;
    EXPECT_EQ(*back, array) << num::name_of(type);
  }
}

TEST(ToNpy, NarrowTypesGetAByteEach) {
  Array array = *Array::zeros(DType::Float4E2M1fn, {3});
  array.set_bits(1, 0xF);
  EXPECT_TRUE(to_npy(array).ends_with("\n\x00\x0F\x00"s));
}

TEST(ParseNpy, BigEndian) {
  const auto array = parse(file_of(header_of(">i4", "(2,)"), "\x00\x00\x01\x02\xFF\xFF\xFF\xFE"s));
  ASSERT_TRUE(array) << array.error().text;
  EXPECT_EQ(values_of(*array), (std::vector<double>{258, -2}));
}

TEST(ParseNpy, FortranOrder) {
  // Columns first: 0 3, 1 4, 2 5.
  const auto array =
      parse(file_of(header_of("|u1", "(2, 3)", "True"), "\x00\x03\x01\x04\x02\x05"s));
  ASSERT_TRUE(array) << array.error().text;
  EXPECT_EQ(values_of(*array), (std::vector<double>{0, 1, 2, 3, 4, 5}));
  const auto cube = parse(file_of(header_of("|u1", "(2, 1, 2)", "True"), "\x00\x02\x01\x03"s));
  EXPECT_EQ(values_of(*cube), (std::vector<double>{0, 1, 2, 3}));
}

TEST(ParseNpy, LaterVersionsHaveLongerLengths) {
  const std::string header = header_of("|u1", "(1,)");
  for (const char version : {'\x02', '\x03'}) {
    const std::string file = "\x93NUMPY"s + version + '\0' + static_cast<char>(header.size()) +
                             "\0\0\0"s + header + "\x07";
    const auto array = parse(file);
    ASSERT_TRUE(array) << array.error().text;
    EXPECT_EQ(array->get(0), 7);
  }
}

TEST(ParseNpy, KeysInAnyOrderAndEitherQuotes) {
  const auto array =
      parse(file_of(R"({"shape":(1,),"descr":"|u1",'fortran_order':False} )", "\x07"));
  ASSERT_TRUE(array) << array.error().text;
  EXPECT_EQ(array->get(0), 7);
}

TEST(ParseNpy, WantedTypeReadsRawAndUnsignedItems) {
  const std::string one = "\x80\x3F";  // 1 as bfloat16
  for (const char* descr : {"<V2", "|V2", "<u2"}) {
    const auto array = parse(file_of(header_of(descr, "(1,)"), one), DType::Bfloat16);
    ASSERT_TRUE(array) << descr << ": " << array.error().text;
    EXPECT_EQ(array->get(0), 1);
  }
  EXPECT_EQ(parse(file_of(header_of(">V2", "(1,)"), "\x3F\x80"), DType::Bfloat16)->get(0), 1);
  EXPECT_EQ(parse(file_of(header_of("<f1", "(1,)"), "\x3C"), DType::Float8E5M2)->get(0), 1);
  EXPECT_EQ(parse(file_of(header_of("|V1", "(1,)"), "\xFF"), DType::Int4)->get(0), -1);
  EXPECT_EQ(parse(file_of(header_of("<f4", "(1,)"), "\0\0\x80\x3F"s), DType::Tfloat32)->get(0), 1);
}

struct BadCase {
  std::string file;
  std::optional<DType> wanted;
  DiagKind kind;
  std::string text;
};

void expect_refused(const std::vector<BadCase>& cases) {
  for (const auto& [file, wanted, kind, text] : cases) {
    const auto array = parse(file, wanted);
    ASSERT_FALSE(array) << text;
    EXPECT_EQ(array.error().text, text);
    EXPECT_EQ(array.error().kind, kind) << text;
  }
}

TEST(ParseNpy, BadFiles) {
  const auto none = std::nullopt;
  expect_refused({
      {"", none, DiagKind::Syntax, "the file does not begin like a .npy file: found ``"},
      {"PK\x03\x04zip", none, DiagKind::Syntax,
       "the file does not begin like a .npy file: found `PK??zi`"},
      {"\x93NUMPY\x09\x00\x00\x00"s, none, DiagKind::Syntax,
       "the .npy version is 9.0; 1.0, 2.0 and 3.0 are known"},
      {"\x93NUMPY\x02\x00\x01"s, none, DiagKind::Syntax,
       "the file ends after 9 bytes, before its header"},
      {"\x93NUMPY\x01\x00\xFF\xFF{"s, none, DiagKind::Syntax,
       "the header is 65535 bytes long, but only 1 bytes follow"},
      {kGolden.substr(0, kGolden.size() - 1), none, DiagKind::BadArgument,
       "the file has 3 bytes of data; the shape [2,1] of `<u2` needs 4 bytes"},
      {kGolden + "x", none, DiagKind::BadArgument,
       "the file has 5 bytes of data; the shape [2,1] of `<u2` needs 4 bytes"},
  });
}

TEST(ParseNpy, BadHeaders) {
  const auto bad = [](const std::string& header, const std::string& text) {
    return BadCase{file_of(header, ""), std::nullopt, DiagKind::Syntax, text};
  };
  expect_refused({
      bad("", "expected `{` at byte 0 of the header, found its end"),
      bad("[]", "expected `{` at byte 0 of the header, found `[]`"),
      bad("{}", "the header has no key `descr`"),
      bad("{'descr': '<f4'}", "the header has no key `fortran_order`"),
      bad("{'descr': '<f4', 'fortran_order': True}", "the header has no key `shape`"),
      bad("{'descr': '<f4', 'descr': '<f4'}", "the header has the key `descr` twice"),
      bad("{'color': 1}",
          "the header has a key `color`; its keys are `descr`, `fortran_order` and `shape`"),
      bad("{'descr' '<f4'}", "expected `:` at byte 9 of the header, found `'<f4'}`"),
      bad("{descr: 1}", "expected a text in quotes at byte 1 of the header, found `descr: 1}`"),
      bad("{'descr", "expected a text whose quotes close at byte 1 of the header, found `'descr`"),
      bad("{'de\\x', }",
          "expected a text without escapes at byte 1 of the header, found "
          "`'de\\x', }`"),
      bad("{'fortran_order': 1}",
          "expected `True` or `False` at byte 18 of the header, found "
          "`1}`"),
      bad("{'shape': 3}", "expected `(` at byte 10 of the header, found `3}`"),
      bad("{'shape': (3)}", "expected `,` before the `)` at byte 13 of the header, found `}`"),
      bad("{'shape': ((3,),)}", "expected an extent at byte 11 of the header, found `(3,),)}`"),
      bad("{'shape': (3 4)}", "expected `,` or `)` at byte 13 of the header, found `4)}`"),
      bad("{'shape': (), 'shape': ()}", "the header has the key `shape` twice"),
      bad("{'fortran_order': True, 'fortran_order': True}",
          "the header has the key `fortran_order` twice"),
      bad("{'shape': () 'x'}", "expected `}` at byte 13 of the header, found `'x'}`"),
      bad("{} x", "expected nothing after the dict at byte 3 of the header, found `x`"),
  });
}

TEST(ParseNpy, BadShapes) {
  const auto bad = [](const std::string& shape, DiagKind kind, const std::string& text) {
    return BadCase{file_of(header_of("<f4", shape), ""), std::nullopt, kind, text};
  };
  expect_refused({
      bad("(-1, 4)", DiagKind::BadExtent, "the shape [-1,4] has the negative extent -1"),
      bad("(4611686018427387904, 4)", DiagKind::TooLarge,
          "the shape [4611686018427387904,4] is beyond the largest array, 2^38 bytes"),
      bad("(99999999999999999999,)", DiagKind::TooLarge,
          "the header's extent 99999999999999999999 is beyond 64 bits"),
      // A giant that the limit allows is refused before memory is taken.
      bad("(60000000000,)", DiagKind::BadArgument,
          "the file has 0 bytes of data; the shape [60000000000] of `<f4` needs 240000000000 "
          "bytes"),
  });
}

TEST(ParseNpy, BadTypes) {
  const auto bad = [](const std::string& descr, std::optional<DType> wanted,
                      const std::string& text) {
    return BadCase{file_of(header_of(descr, "(0,)"), ""), wanted, DiagKind::BadArgument, text};
  };
  const auto none = std::nullopt;
  expect_refused({
      bad("|O", none, "the file holds Python objects (`|O`), which no element type represents"),
      bad("|O", DType::Int64,
          "the file holds Python objects (`|O`), which no element type represents"),
      bad("<c8", none, "the file holds complex numbers (`<c8`), which no element type represents"),
      bad("<U5", none, "the file holds text (`<U5`), which no element type represents"),
      bad("<M8[ns]", none, "the file holds dates (`<M8[ns]`), which no element type represents"),
      bad("<f16", none, "the file holds `<f16`, which is not an element type"),
      bad("f", none, "the description `f` is not of the form `<f4`"),
      bad("", none, "the description `` is not of the form `<f4`"),
      bad("<f4x", none, "the description `<f4x` is not of the form `<f4`"),
      bad("<V0", none, "the description `<V0` is not of the form `<f4`"),
      bad("<V2", none,
          "the file holds raw items of 2 bytes (`<V2`) and does not say of which "
          "type"),
      bad("<V2", DType::Float32,
          "the file holds raw items of 2 bytes (`<V2`); `float32` is "
          "wanted"),
      bad("<f4", DType::Float16, "the file holds `float32`; `float16` is wanted"),
      bad("<u4", DType::Float32, "the file holds `uint32`; `float32` is wanted"),
      bad("<i2", DType::Bfloat16, "the file holds `int16`; `bfloat16` is wanted"),
  });
  expect_refused({{file_of("{'descr': [('a', '<f4')], }", ""), none, DiagKind::BadArgument,
                   "the file holds records with fields (`[('a', '<f4')], }`), which no element "
                   "type represents"}});
}

TEST(ParseNpy, BadCodesOfNarrowTypes) {
  expect_refused({{file_of(header_of("|V1", "(2,)"), "\x0F\x21"), DType::Float4E2M1fn,
                   DiagKind::BadArgument, "element 1 is the byte 0x21; `float4_e2m1fn` has 4 bits"},
                  {file_of(header_of("|V1", "(1,)"), "\xF1"), DType::Int4, DiagKind::BadArgument,
                   "element 0 is the byte 0xf1; `int4` has 4 bits"}});
}

// A large file is none of ours by its first bytes.
TEST(ReadNpy, ReadsNoMoreThanItMustOfWhatIsNone) {
  const auto path =
      std::filesystem::temp_directory_path() / ("ww_npy_test_" + std::to_string(::getpid()));
  std::ofstream(path).put('\0');
  std::filesystem::resize_file(path, std::uintmax_t{1} << 32U);
  const auto array = read_npy(path.string(), std::size_t{1} << 40U);
  std::filesystem::remove(path);
  ASSERT_FALSE(array);
  EXPECT_EQ(array.error().text,
            "`" + path.string() + "`: the file does not begin like a .npy file: found `??????`");
}

// Whatever one byte becomes, and wherever the file ends, there is an array or a Diag.
TEST(ParseNpy, SurvivesDamageAtEveryByte) {
  int read = 0;
  for (std::size_t at = 0; at < kGolden.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string file = kGolden;
      file[at] = static_cast<char>(value);
      for (const std::optional<DType> wanted : {std::optional<DType>{}, {DType::Bfloat16}}) {
        const auto array = parse(file, wanted);
        read += array.has_value() ? 1 : 0;
        ASSERT_TRUE(array || !array.error().text.empty());
      }
    }
    ASSERT_FALSE(parse(kGolden.substr(0, at))) << at;
  }
  // Damage to the data cannot be seen, and blanks may become other blanks.
  EXPECT_GE(read, 2 * 4 * 256);
}

}  // namespace
}  // namespace ww::driver::args_npy_test
