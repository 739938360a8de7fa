// SPDX-License-Identifier: Apache-2.0
// For tests: a kernel from its body, buffers from values, a run, and its results.
//
//     TestKernel k("st.global.u32 [%out], 7;");     // parameters: one 64-bit pointer `out`
//     k.output<std::uint32_t>(1);
//     k.run();
//     EXPECT_EQ(k.read<std::uint32_t>(0)[0], 7U);
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "sim/launch.h"

namespace ww::sim {

/// A module of one kernel `k`. `body` sees the parameters as 64-bit registers %a0, %a1, … and has
/// plenty of registers: %p<32> pred, %h<64> b16, %r<256> b32, %f<64> f32, %d<128> b64, %q<8> b128.
inline std::string kernel_text(std::string_view body, int params,
                               std::string_view target = "sm_90a", std::string_view version = "8.8",
                               std::string_view head = "") {
  std::string text =
      fmt::format(".version {}\n.target {}\n.address_size 64\n{}\n", version, target, head);
  text += ".visible .entry k(";
  for (int i = 0; i < params; ++i) text += fmt::format("{}.param .u64 a{}", i == 0 ? "" : ", ", i);
  text += ")\n{\n.reg .pred %p<32>; .reg .b16 %h<64>; .reg .b32 %r<256>; .reg .f32 %f<64>;";
  text += " .reg .b64 %d<128>; .reg .b128 %q<8>;\n";
  if (params > 0) text += fmt::format(".reg .b64 %a<{}>;\n", params);
  for (int i = 0; i < params; ++i) text += fmt::format("ld.param.u64 %a{}, [a{}];\n", i, i);
  return text + std::string(body) + "\nret;\n}\n";
}

/// Loads a text, runs its kernel, keeps the report.
class TestRun {
 public:
  explicit TestRun(std::string text) : text_(std::move(text)) {
    LoadResult loaded = load(text_, "test.ptx");
    const SourceText source("test.ptx", text_);
    for (const Diag& error : loaded.errors) errors_ += render(error, source);
    program_ = loaded.program;
    if (program_ != nullptr) {
      device_ = std::make_unique<Device>(program_);
      launch.kernel = program_->kernels().at(0);
    }
  }
  TestRun(std::string_view body, int params, std::string_view target = "sm_90a",
          std::string_view version = "8.8", std::string_view head = "")
      : TestRun(kernel_text(body, params, target, version, head)) {}

  /// The next parameter is a buffer with these values, or undefined ones.
  template <typename T>
  TestRun& input(const std::vector<T>& values) {
    Region& region = add_buffer(values.size() * sizeof(T));
    GlobalMemory::write(region, std::as_bytes(std::span(values)));
    return *this;
  }
  template <typename T>
  TestRun& output(std::size_t count) {
    add_buffer(count * sizeof(T));
    return *this;
  }
  /// The next parameter is the handle of a texture or surface with these values, channel by channel.
  template <typename T>
  TestRun& texture(Texture it, const std::vector<T>& values) {
    input(values);
    it.address = buffers_.back()->base;
    handle(buffers_.size() - 1, it);
    return *this;
  }
  /// That parameter is the handle of this texture.
  void handle(std::size_t param, const Texture& it) {
    values_[param] = device_->memory().textures().add(it);
  }
  TestRun& scalar(std::uint64_t value) {
    buffers_.push_back(nullptr);
    values_.push_back(value);
    return *this;
  }

  const LaunchReport& run() {
    if (device_ == nullptr) {
      ADD_FAILURE() << errors_;
      return report_;
    }
    launch.params.resize(launch.kernel->param_bytes);
    for (std::size_t i = 0; i < values_.size() && i < launch.kernel->params.size(); ++i) {
      const Param& param = launch.kernel->params[i];
      std::memcpy(launch.params.data() + param.offset, &values_[i],
                  std::min<std::size_t>(8, param.bytes));
    }
    Result<LaunchReport> result = device_->run(launch, options);
    if (result) {
      report_ = std::move(*result);
    } else {
      refusal_ = result.error().text;
    }
    return report_;
  }

  template <typename T>
  std::vector<T> read(std::size_t buffer) const {
    const Region& region = *buffers_.at(buffer);
    std::vector<T> values(region.size / sizeof(T));
    std::memcpy(values.data(), region.data, values.size() * sizeof(T));
    return values;
  }
  [[nodiscard]] const Region& buffer(std::size_t i) const { return *buffers_.at(i); }
  [[nodiscard]] const std::string& errors() const { return errors_; }
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  [[nodiscard]] const LaunchReport& report() const { return report_; }
  [[nodiscard]] const Program& program() const { return *program_; }

  /// All findings, one to a line: `race 12/9: text` with the lines of the text of both parties
  /// counted from the start of the module.
  [[nodiscard]] std::string findings() const {
    std::string all;
    for (const Finding& f : report_.findings.list()) {
      all +=
          fmt::format("{} {}{}: {}\n", name_of(f.check), line_of(f.who.op),
                      f.other.op == kNoOp ? "" : fmt::format("/{}", line_of(f.other.op)), f.text);
    }
    return all;
  }
  /// How many causes of that kind were found.
  [[nodiscard]] std::size_t count(Check check) const {
    std::size_t n = 0;
    for (const Finding& f : report_.findings.list()) n += f.check == check ? 1U : 0U;
    return n;
  }

  Launch launch{};
  RunOptions options{};

 private:
  Region& add_buffer(std::size_t bytes) {
    Region& region =
        device_->memory().allocate(bytes, 256, fmt::format("parameter {}", buffers_.size()));
    buffers_.push_back(&region);
    values_.push_back(region.base);
    return region;
  }
  [[nodiscard]] std::uint32_t line_of(std::uint32_t op) const {
    return op == kNoOp ? 0 : program_->infos[op].line;
  }

  std::string text_, errors_, refusal_;
  std::shared_ptr<const Program> program_;
  std::unique_ptr<Device> device_;
  std::vector<Region*> buffers_;
  std::vector<std::uint64_t> values_;
  LaunchReport report_;
};

}  // namespace ww::sim
