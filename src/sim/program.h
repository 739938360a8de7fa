// SPDX-License-Identifier: Apache-2.0
// A module ready to run: all functions decoded into one list of ops, constants laid out, variables
// with their places. Made once by `load`, then only read; any number of launches may share it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diag.h"
#include "base/source.h"
#include "ptx/module.h"
#include "sim/op.h"
#include "target/target.h"

namespace ww::sim {

/// A special register that a launch fills in before a warp starts: %tid.x and the like.
enum class Special : std::uint8_t {
#define WW_SPECIAL_VALUE(id, name, value) id,
#include "sim/specials.def"
#undef WW_SPECIAL_VALUE
};

/// A special register that some function reads, and where every frame of it has it.
struct SpecialUse {
  Special what{};
  Place place{};
  unsigned bytes = 4;  // 4 or 8
};

/// The same of an address in the CTA's shared memory, which has the rank of the CTA in it.
struct SharedAddress {
  std::uint64_t offset = 0;
  Place place{};
  unsigned bytes = 4;  // up to 8
};

/// One parameter of a kernel.
struct Param {
  std::string name;
  isa::Type type = isa::Type::B64;
  std::uint32_t offset = 0;  // in the parameter memory
  std::uint32_t bytes = 0;
  std::uint32_t align = 1;
  std::uint32_t pointee_align = 1;  // what an address is a multiple of, by `.ptr .align`
};
/// The largest `.ptr .align` among the parameters of a kernel: memory so aligned suits them all.
std::uint64_t largest_align(std::span<const Param> params);

/// How a value gets from a call's argument to the callee's parameter, or back. A vector register is
/// one for each component.
struct ValueMove {
  bool from_register = false, to_register = false;
  bool is_pred = false;            // both are predicate registers: a bit per lane
  std::uint32_t from = 0, to = 0;  // frame offset of a register, or offset in local memory
  std::uint32_t from_step = 0, to_step = 0;  // of registers: bytes from lane to lane
  std::uint32_t bytes = 0;                   // of one lane
};

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;

  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  /// The coordinates of one of them, by its number.
  [[nodiscard]] Dim3 at(std::uint64_t number) const {
    return {static_cast<std::uint32_t>(number % x), static_cast<std::uint32_t>(number / x % y),
            static_cast<std::uint32_t>(number / x / y)};
  }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

/// A decoded function.
struct Code {
  std::string name;
  bool is_entry = false;
  std::uint32_t first_op = 0, end_op = 0;
  std::uint32_t frame_bytes = 0;  // of its registers, 32 lanes each
  std::uint32_t local_bytes = 0;  // of its local variables and call parameters, per lane
  std::vector<SpecialUse> specials;
  std::vector<SharedAddress> shared_addresses;
  std::vector<Param> params;                // of a kernel
  std::uint32_t param_bytes = 0;            // of a kernel
  std::vector<ValueMove> formals, results;  // `to` side of parameters, `from` side of results
  std::uint32_t static_shared = 0;
  std::optional<Dim3> required_block, most_block, required_cluster;
  bool asks_for_cluster = false;  // `.explicitcluster`: a launch must say its cluster
  /// Whether blocks may influence each other through global memory while they run (atomics with a
  /// result, ordered or volatile accesses): such kernels run block after block on one host thread.
  bool is_ordered = false;
  /// Whether a thread's progress may change what others do other than at barriers for all of them, and
  /// whether memory is changed in a way that may leave other values in another order.
  bool meets_in_parts = false, has_atomics = false;
  std::uint32_t registers = 0;      // `.maxnreg`
  std::uint32_t most_taken = 0;     // the largest count of a setmaxnreg.inc; 0: there is none
  std::uint32_t blocks_per_sm = 0;  // `.minnctapersm`
  bool counts_clusters = false;     // `.blocksareclusters`: the grid of a launch counts clusters
};

/// A call site.
struct CallSite {
  std::uint32_t function = ~std::uint32_t{0};  // index into Program::functions; ~0: by register
  Place target{};                              // of an indirect call
  std::vector<ValueMove> arguments, results;   // of an indirect call only the caller's side
};
/// Fills in the callee's side. Whether arguments and results are as many and as large as the
/// callee's.
bool complete_call(CallSite& site, const Code& callee);

/// A variable of the module.
struct GlobalVariable {
  std::string name;
  isa::Space space{};
  std::uint64_t size = 0;
  std::uint32_t align = 1;
  std::vector<std::byte> bytes;  // the initial value, zeros where none is given
};

/// A shared variable as the text names it.
struct SharedVariable {
  static constexpr std::uint32_t kAnyFunction = ~std::uint32_t{0};

  std::string name;
  std::uint32_t function = kAnyFunction;  // index into Program::functions
  std::uint64_t offset = 0;               // in the shared memory of a CTA
  std::uint64_t bytes = 0;                // 0: dynamic, up to the end
  std::uint32_t element = 1;              // bytes
};

struct SourceLoc {
  std::uint32_t file = 0, line = 0, column = 0;
};

struct Program {
  SourceText source{"", ""};  // that was read
  ptx::Module module;
  target::Target target;
  std::vector<Op> ops;
  std::vector<OpInfo> infos;           // by op
  std::vector<WatchedPlaces> watched;  // by op
  std::vector<OperandInfo> operands;
  std::vector<Place> places;         // further places of ops with many operands
  std::vector<Address> addresses;    // of ops that access memory
  std::vector<std::byte> constants;  // 32 lanes each
  std::vector<Code> functions;
  std::vector<CallSite> calls;
  std::vector<std::vector<std::uint32_t>> branch_tables;
  std::vector<GlobalVariable> variables;
  std::vector<SharedVariable> shared;
  std::vector<SourceLoc> locs;
  std::vector<std::string> files;   // by `.file` index
  std::uint32_t static_shared = 0;  // where dynamic shared memory starts
  std::uint32_t module_shared = 0;  // bytes of shared variables that any kernel may use
  bool uses_heap = false;           // calls malloc or free
  bool has_grid_barrier = false;    // reads where a cooperative launch keeps that
  bool uses_async_proxy = false;    // reads or writes memory through it
  bool uses_tensor_memory = false;
  bool uses_warpgroups = false;  // multiplies with wgmma
  std::vector<bool> late_reads;  // by op (decode/late_reads.h); empty without the async proxy
  /// Ops that do not start before such a load has ended, and the load; in ascending order.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> settled_reads;
  std::vector<std::shared_ptr<const void>> forms;  // of ops (form_of)

  [[nodiscard]] const Code* find_kernel(std::string_view name) const;
  [[nodiscard]] std::vector<const Code*> kernels() const;
  /// The operands of an op as the text has them.
  [[nodiscard]] std::span<const OperandInfo> operands_of(std::uint32_t op) const {
    return {operands.data() + infos[op].first_operand, infos[op].operand_count};
  }
  /// A line of the text without the spaces around it.
  [[nodiscard]] std::string_view line(std::uint32_t number) const;
  /// "line 12 (kernel.cu:7)", of an op.
  [[nodiscard]] std::string place_text(std::uint32_t op) const;
  /// "k.py:16", by `.loc`; empty: none says it.
  [[nodiscard]] std::string source_place(std::uint32_t op) const;
};

struct LoadResult {
  std::shared_ptr<const Program> program;  // null if there are errors
  std::vector<Diag> errors;                // located in the text
  std::vector<Note> notes;                 // a version or target read as another one
};

/// Reads, checks and decodes a PTX text. Instructions that are legal but not simulated are errors,
/// too, each with its location. Errors in a function that cannot run do not count.
struct LoadOptions {
  /// Decodes only what these kernels can reach; empty: all kernels.
  std::vector<std::string> kernels{};
};
LoadResult load(std::string_view text, std::string name, const LoadOptions& options = {});

}  // namespace ww::sim
