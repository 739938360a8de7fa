// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstring>
#include <sstream>

#include "foreign/launches.h"
#include "hardware/sweep/bounds.h"
#include "hardware/sweep/values.h"
#include "num/float_format.h"

namespace ww::corpus {
namespace {

using isa::Type;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

bool is_float(Type type) {
  return type == Type::F16 || type == Type::Bf16 || type == Type::F32 || type == Type::F64;
}

template <typename T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// To nearest even, by way of float: enough for what fills need.
std::uint64_t narrow(Type type, double value) {
  const auto format = type == Type::F16 ? num::DType::Float16 : num::DType::Bfloat16;
  return num::encode(format, value);
}

std::uint64_t encode(Type type, double value) {
  switch (type) {
    case Type::F64:
      return bits_of(value);
    case Type::F32:
      return bits_of(static_cast<float>(value));
    case Type::F16:
    case Type::Bf16:
      return narrow(type, value);
    default:
      return value < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
                       : static_cast<std::uint64_t>(value);
  }
}

std::uint64_t random_at(std::uint64_t seed, std::size_t i) {
  return sweep::hash_of(std::to_string(seed) + "/" + std::to_string(i));
}

std::uint64_t edge_at(Type type, std::uint64_t seed, std::size_t i) {
  return sweep::value_at(sweep::kind_of(type), static_cast<unsigned>(seed), i);
}

std::uint64_t between(Type type, const std::vector<std::string>& words, std::size_t i) {
  const double low = std::stod(words[1]), high = std::stod(words[2]);
  const std::uint64_t chance = random_at(std::stoull(words[3]), i);
  if (words[0] == "int")
    return encode(type,
                  low + static_cast<double>(chance % static_cast<std::uint64_t>(high - low + 1)));
  return encode(type, low + (high - low) * std::ldexp(static_cast<double>(chance >> 11U), -53));
}

std::optional<std::uint64_t> fill_at(Type type, const std::vector<std::string>& words,
                                     std::size_t i) {
  const std::string& kind = words[0];
  if (kind == "zero") return 0;
  if ((kind == "int" || kind == "uniform") && words.size() == 4) return between(type, words, i);
  if (words.size() != 2) return std::nullopt;
  if (kind == "const") return encode(type, std::stod(words[1]));
  if (kind == "iota") return encode(type, std::stod(words[1]) + static_cast<double>(i));
  if (kind == "bits") return random_at(std::stoull(words[1]), i);
  if (kind == "edge") return edge_at(type, std::stoull(words[1]), i);
  if (kind == "odd") return edge_at(type, std::stoull(words[1]), i) | 1U;
  return std::nullopt;
}

void append(std::vector<std::byte>& to, std::uint64_t bits, std::size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(&bits);
  to.insert(to.end(), first, first + size);
}

}  // namespace

std::size_t size_of(Type type) { return static_cast<std::size_t>(isa::info(type).bits) / 8; }

std::optional<std::vector<std::byte>> make_value(Type type, const std::string& text) {
  std::vector<std::byte> bytes;
  try {
    const std::uint64_t bits = is_float(type) ? encode(type, std::stod(text))
                               : text.starts_with('-')
                                   ? static_cast<std::uint64_t>(std::stoll(text))
                                   : std::stoull(text, nullptr, 0);
    append(bytes, bits, size_of(type));
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return bytes;
}

std::optional<std::vector<std::byte>> make_fill(Type type, std::size_t count,
                                                const std::string& fill) {
  std::vector<std::byte> bytes;
  if (fill.starts_with("list:")) {
    for (const std::string& value : split(fill.substr(5), ',')) {
      const auto made = make_value(type, value);
      if (!made) return std::nullopt;
      bytes.insert(bytes.end(), made->begin(), made->end());
    }
    if (bytes.size() != count * size_of(type)) return std::nullopt;
    return bytes;
  }
  const std::vector<std::string> words = split(fill, ':');
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = words.empty() ? std::nullopt : fill_at(type, words, i);
    if (!value) return std::nullopt;
    append(bytes, *value, size_of(type));
  }
  return bytes;
}

double number_of(Type type, const std::byte* bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes, size_of(type));
  if (is_float(type)) return sweep::decode(type, bits);
  if (isa::info(type).cls != isa::TypeClass::Signed) return static_cast<double>(bits);
  const auto shift = static_cast<unsigned>(64 - isa::info(type).bits);
  return static_cast<double>(static_cast<std::int64_t>(bits << shift) >> shift);
}

}  // namespace ww::corpus
