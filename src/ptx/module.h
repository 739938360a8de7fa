// SPDX-License-Identifier: Apache-2.0
// A PTX module as a value: the text, flat and in source order, before names or opcodes are looked
// up. `parse` (ptx/parser.h) makes one from text, `print` (ptx/printer.h) text from one, and a
// program can build one directly:
//
//     Module m;
//     m.version = {8, 8};
//     m.targets = {m.names.intern("sm_90a")};
//     Function& f = m.add_function(FunctionKind::Entry, "k");
//     f.linkage = Linkage::Visible;
//     const NameId r = m.names.intern("%r");
//     f.add_registers(isa::Type::B32, {{r, 2}});
//     const Operand r1 = name_operand(m.names.intern("%r1"));
//     f.add_instruction(m.names.intern("add.s32"), {r1, r1, int_operand(4)});
//
// Positions (`offset`) are byte offsets into the text that was read, and 0 in what was built.
// Copying a module copies everything; ids and indices stay valid in the copy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "base/small_vec.h"
#include "isa/type.h"
#include "ptx/names.h"
#include "ptx/operand.h"

namespace ww::ptx {

// --- variables and parameters -------------------------------------------------------------------

enum class Space : std::uint8_t { Reg, Global, Const, Shared, Local, Param };
enum class Linkage : std::uint8_t { None, Extern, Visible, Weak, Common };
/// What is declared with a handle type instead of a number type.
enum class Opaque : std::uint8_t { None, TexRef, SamplerRef, SurfRef };

enum class AttributeKind : std::uint8_t { Managed, Unified };
struct Attribute {
  AttributeKind kind = AttributeKind::Managed;
  std::array<std::uint64_t, 2> uuid{};  // of Unified
};

/// The extent of `[]`.
constexpr std::uint64_t kUnsized = ~std::uint64_t{0};
/// The count of a name that declares itself, `a`, not a family, `a<4>`.
constexpr std::uint32_t kSingle = ~std::uint32_t{0};

/// `.ptr .global .align 16` of a kernel parameter: where it points to.
struct Pointee {
  bool present = false;
  bool is_generic = true;       // no space was given
  Space space = Space::Global;  // otherwise
  std::uint32_t align = 0;      // 0: not given
};

/// A variable or a parameter: `.visible .global .align 4 .v2 .f32 name[3][] = {…}`.
struct Variable {
  Space space = Space::Global;
  Linkage linkage = Linkage::None;
  Opaque opaque = Opaque::None;
  isa::Type type = isa::Type::B32;    // when not opaque
  std::uint8_t vector = 1;            // 1, or 2, 4, 8 for .v2, .v4, .v8
  std::uint32_t align = 0;            // in bytes; 0: not given
  NameId name = kNoName;              // `_` in prototypes
  std::uint32_t count = kSingle;      // `name<4>` declares name0 … name3
  SmallVec<std::uint64_t, 2> dims{};  // `[3][]` is 3, kUnsized
  SmallVec<Attribute, 1> attributes{};
  Pointee pointee{};  // of a parameter
  /// What follows `=`: empty, or one operand (a Vector for braces) whose children are before it.
  OperandPool init{};
  std::uint32_t offset = 0;

  [[nodiscard]] bool has_init() const { return !init.empty(); }
  /// The operand after `=`; has_init() must hold.
  [[nodiscard]] const Operand& init_root() const;
  /// Makes `root`, whose children (if any) `init` made, the value. To be called once.
  void set_init(const Operand& root);
};

// --- function bodies ----------------------------------------------------------------------------

/// `@%p1`, `@!%p1`, or none.
struct Guard {
  NameId name = kNoName;
  bool is_negated = false;

  [[nodiscard]] bool present() const { return name != kNoName; }
  friend bool operator==(const Guard&, const Guard&) = default;
};

struct Instruction {
  NameId opcode = kNoName;  // the whole dotted word: `ld.global.v4.b32`
  Guard guard{};
  Range operands{};          // in the function's operands
  std::uint32_t offset = 0;  // of the opcode; the statement's is that of the guard
};

/// One name of a `.reg`: `a`, or `a<4>`.
struct RegisterName {
  NameId name = kNoName;
  std::uint32_t count = kSingle;
  std::uint32_t offset = 0;
};

/// `.reg .v2 .b32 %a, %r<4>;`
struct RegisterDecl {
  isa::Type type = isa::Type::B32;
  std::uint8_t vector = 1;
  Range names{};  // in the function's register_names
};

/// `.loc 1 20 3, function_name $L__info_string0+4, inlined_at 1 9 2`
struct Loc {
  struct Place {
    std::uint32_t file = 0;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  Place at{};
  NameId function = kNoName;  // kNoName: not inlined
  std::uint64_t function_offset = 0;
  Place inlined_at{};
};

enum class DirectiveKind : std::uint8_t {
#define WW_DIRECTIVE(name, text, fewest, most) name,
#include "ptx/directives.def"
#undef WW_DIRECTIVE
  Pragma,  // `.pragma "text";`
};
/// A row of directives.def.
struct DirectiveInfo {
  std::string_view text;  // without the dot
  std::uint8_t fewest;    // integers that follow
  std::uint8_t most;
};
const DirectiveInfo& info(DirectiveKind kind);

/// `.maxntid 128, 1, 1`
struct Directive {
  DirectiveKind kind = DirectiveKind::MaxNTid;
  SmallVec<std::uint32_t, 3> values{};
  NameId text = kNoName;  // of Pragma, without the quotes
  std::uint32_t offset = 0;
};

/// `p : .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;`
struct Prototype {
  NameId label = kNoName;
  std::vector<Variable> results{};
  std::vector<Variable> params{};
  std::vector<Directive> directives{};
};

/// `t: .branchtargets L1, L2;` or `t: .calltargets f, g;`
struct TargetList {
  NameId label = kNoName;
  std::vector<NameId> names{};
};

enum class StatementKind : std::uint8_t {
  // What Statement::index is, after the colon.
  Instruction,    // : in instructions
  Label,          // : its NameId
  Registers,      // : in registers
  Variable,       // : in variables
  OpenBlock,      // : the statement that closes it
  CloseBlock,     // : the statement that opened it
  Loc,            // : in locs
  Pragma,         // : the NameId of its text, without the quotes
  Prototype,      // : in prototypes
  BranchTargets,  // : in target_lists
  CallTargets,    // : in target_lists
  Comment,        // : the NameId of its text, without the slashes
};

struct Statement {
  StatementKind kind = StatementKind::Instruction;
  std::uint32_t index = 0;
  std::uint32_t offset = 0;
};

enum class FunctionKind : std::uint8_t { Entry, Func };

/// A kernel (.entry) or device function (.func), defined or only declared.
///
/// The body is `statements` in source order; what a statement holds is in the vector that its kind
/// names. The braces of the body itself are not statements. `close_block` and the parser keep
/// blocks balanced.
struct Function {
  FunctionKind kind = FunctionKind::Entry;
  Linkage linkage = Linkage::None;
  bool has_body = false;  // `{…}`, be it empty; otherwise a declaration that ends in `;`
  NameId name = kNoName;
  std::uint32_t offset = 0;      // of the first word of the declaration
  std::uint32_t end_offset = 0;  // of the closing `}` or the `;`
  SmallVec<Attribute, 1> attributes{};
  std::vector<Variable> results{};
  std::vector<Variable> params{};
  std::vector<Directive> directives{};

  std::vector<Statement> statements{};
  std::vector<Instruction> instructions{};
  OperandPool operands{};
  std::vector<RegisterDecl> registers{};
  std::vector<RegisterName> register_names{};
  std::vector<Variable> variables{};
  std::vector<Loc> locs{};
  std::vector<Prototype> prototypes{};
  std::vector<TargetList> target_lists{};

  // Building. Each adds one statement at the end of the body and makes has_body true. Names come
  // from the module's pool, operands with children from `operands`.

  Instruction& add_instruction(NameId opcode, std::span<const Operand> list, Guard guard = {});
  Instruction& add_instruction(NameId opcode, std::initializer_list<Operand> list,
                               Guard guard = {}) {
    return add_instruction(opcode, std::span(list.begin(), list.size()), guard);
  }
  void add_label(NameId label);
  /// `.reg .b32 a, %r<4>;`
  void add_registers(isa::Type type, std::span<const RegisterName> names, std::uint8_t vector = 1);
  void add_registers(isa::Type type, std::initializer_list<RegisterName> names,
                     std::uint8_t vector = 1) {
    add_registers(type, std::span(names.begin(), names.size()), vector);
  }
  void add_variable(Variable variable);
  void open_block();
  [[nodiscard]] bool has_open_block() const { return innermost_open_ != kNoBlock; }
  /// There must be an open block.
  void close_block();
  void add_loc(const Loc& loc);
  void add_pragma(NameId text);
  void add_prototype(Prototype prototype);
  /// BranchTargets or CallTargets.
  void add_targets(StatementKind targets, TargetList list);
  /// One line; a text with line breaks would not read back.
  void add_comment(NameId text);

  [[nodiscard]] std::span<const Operand> operands_of(const Instruction& instruction) const {
    return operands.at(instruction.operands);
  }
  [[nodiscard]] std::span<const RegisterName> names_of(const RegisterDecl& decl) const {
    return std::span(register_names).subspan(decl.names.first, decl.names.count);
  }

 private:
  static constexpr std::uint32_t kNoBlock = ~std::uint32_t{0};

  Statement& add_statement(StatementKind statement, std::size_t index);

  // The innermost open block. Until a block is closed, the index of its OpenBlock is the block
  // around it.
  std::uint32_t innermost_open_ = kNoBlock;
};

// --- module level -------------------------------------------------------------------------------

/// `.file 1 "a.cu", 1700000000, 1234`
struct File {
  std::uint32_t index = 0;
  NameId path = kNoName;  // without the quotes; PTX has no escapes
  bool has_stamp = false;
  std::uint64_t time = 0;
  std::uint64_t bytes = 0;
};

/// A line of a debug section: a label, or `.b8 1, 2, 3`.
struct SectionLine {
  NameId label = kNoName;  // kNoName: data
  isa::Type type = isa::Type::B8;
  Range values{};  // in the section's values: Int, Name, NameOffset or Difference
};

/// `.section .debug_str { … }`, kept as it is for the assembler.
struct Section {
  NameId name = kNoName;  // with its dot
  std::vector<SectionLine> lines{};
  OperandPool values{};
};

/// `.alias name, target;`
struct Alias {
  NameId name = kNoName;
  NameId target = kNoName;
};

enum class ItemKind : std::uint8_t {
  // What Item::index is, after the colon.
  Variable,  // : in variables
  Function,  // : in functions
  File,      // : in files
  Section,   // : in sections
  Alias,     // : in aliases
  Pragma,    // : the NameId of its text, without the quotes
  Comment,   // : the NameId of its text, without the slashes
};

struct Item {
  ItemKind kind = ItemKind::Variable;
  std::uint32_t index = 0;
  std::uint32_t offset = 0;
};

struct Version {
  std::uint16_t major = 0;
  std::uint16_t minor = 0;

  friend auto operator<=>(const Version&, const Version&) = default;
};

struct Module {
  NamePool names{};
  Version version{};
  std::vector<NameId> targets{};     // `sm_90a`, `texmode_independent`, `debug`
  std::uint32_t address_size = 64;   // 32, 64, or 0: not given
  std::uint32_t version_offset = 0;  // where the version and the first target stand in the text
  std::uint32_t target_offset = 0;
  std::vector<Item> items{};  // everything below, in source order
  std::vector<Variable> variables{};
  std::vector<Function> functions{};
  std::vector<File> files{};
  std::vector<Section> sections{};
  std::vector<Alias> aliases{};

  [[nodiscard]] std::string_view text(NameId id) const { return names.text(id); }

  // Building. Each adds one item at the end. References are good until the next of the same kind
  // is added.

  Variable& add_variable(Variable variable);
  Function& add_function(FunctionKind kind, std::string_view name);
  Function& add_function(Function function);
  void add_file(const File& file);
  void add_section(Section section);
  void add_alias(NameId name, NameId target);
  void add_pragma(std::string_view pragma);
  void add_comment(std::string_view comment);

 private:
  void add_item(ItemKind kind, std::size_t index);
};

/// Whether two modules say the same: the same items, statements and operands in the same order with
/// the same names and the same spelling of numbers. Positions, the numbering of names and the order
/// inside pools do not count.
bool equal(const Module& a, const Module& b);

}  // namespace ww::ptx
