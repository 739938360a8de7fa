// SPDX-License-Identifier: Apache-2.0
// Faults in tensor maps, in the mbarrier and in who starts a copy, planted behind the back of the
// variant: the proof catches each. (tests/faults plants faults in the code of primitives.)
#include "engines/box_programs.h"
#include "ir/build.h"
#include "ir/tensor_map.h"
#include "isa/catalogue.h"
#include "lower/code_observer.h"
#include "lower/lower.h"
#include "script/compile.h"

namespace ww::test::tma_faults_test {
namespace {

using lower::Proof;

/// Changes one number of the map at a time, or the mbarrier, and notes what the proof says.
class Meddler final : public lower::CodeObserver {
 public:
  Proof observe(ir::Function& f, ir::Block& code, const std::function<Proof()>& prove) override {
    for (const ir::StmtId id : f.host)
      if (f[id].kind == ir::StmtKind::Bind && ir::tensor_map_of(f, f[id].expr))
        meddle_with_map(f, f[id].expr, prove);
    for (const ir::StmtId id : code)
      if (f[id].kind == ir::StmtKind::Ptx) meddle_with_call(f, f.at(f[id].ptx), prove);
    return prove();
  }

  bool is_load = true;  // a store fills nothing, whatever its map says
  std::vector<std::string> missed;
  int caught = 0;

 private:
  void note(const std::string& what, const Proof& proof) {
    if (proof.holds())
      missed.push_back(what);
    else
      ++caught;
  }

  // pointer, rank, dims, strides, box, swizzle, promotion, fill. The promotion changes nothing.
  void meddle_with_map(ir::Function& f, ir::ExprId map, const std::function<Proof()>& prove) {
    const std::size_t count = f[map].args.size();
    for (std::size_t i = 2; i < count; ++i) {
      if (i == count - 2 || (i == count - 1 && !is_load)) continue;
      const ir::ExprId old = f[map].args[i];
      const auto value = ir::const_int(f, old);
      if (!value) continue;
      const std::int64_t other = i == count - 3   ? (*value == 128 ? 64 : 128)
                                 : i == count - 1 ? 1 - *value
                                                  : *value / 2;
      f.at(map).args[i] = ir::int_imm(f, num::DType::Int32, other);
      note(fmt::format("number {} of the map: {} for {}", i, other, *value), prove());
      f.at(map).args[i] = old;
    }
  }

  void meddle_with_operation(ir::PtxCall& call, const std::function<Proof()>& prove);
  void meddle_with_call(ir::Function& f, ir::PtxCall& call, const std::function<Proof()>& prove) {
    for (std::size_t i = 0; i + 1 < call.operands.size(); ++i) {
      std::swap(call.operands[i].expr, call.operands[i + 1].expr);
      const bool is_other = f[call.operands[i].expr].type == f[call.operands[i + 1].expr].type &&
                            call.operands[i].kind == call.operands[i + 1].kind;
      if (is_other) note(fmt::format("operands {} and {} exchanged", i, i + 1), prove());
      std::swap(call.operands[i].expr, call.operands[i + 1].expr);
    }
    if (call.opcode.binding().has("multicast")) {
      ir::PtxOperand& mask = call.operands.back();
      for (const std::int64_t other : {1, 2, 7}) {
        const ir::ExprId old = mask.expr;
        mask.expr = ir::int_imm(f, num::DType::Uint16, other);
        note(fmt::format("the mask {} of CTAs", other), prove());
        mask.expr = old;
      }
      return;
    }
    meddle_with_operation(call, prove);
    ir::ExprId& last = call.operands.back().expr;
    const ir::Expr old = f[last];
    if (call.opcode.binding().word("dst") == "global" || old.op != ir::ExprOp::AddressOf) return;
    const ir::ExprId mbarrier = last;
    ir::Expr beside = old;
    beside.args = {ir::int_imm(f, num::DType::Int32, 1)};
    last = f.add(std::move(beside));
    note("the mbarrier beside", prove());
    last = mbarrier;
  }
};

// Another operation than the call's, or none.
void Meddler::meddle_with_operation(ir::PtxCall& call, const std::function<Proof()>& prove) {
  if (call.opcode.binding().word("dst") != "global") return;
  const isa::Opcode old = call.opcode;
  const std::string rank(old.binding().word("dim").text());
  for (const std::string& other :
       {"cp.async.bulk.tensor." + rank + ".global.shared::cta.tile.bulk_group",
        "cp.reduce.async.bulk.tensor." + rank + ".global.shared::cta.max.tile.bulk_group"}) {
    if (old.text() == other) continue;
    call.opcode = isa::opcode_of(other);
    note("`" + other + "` instead", prove());
    call.opcode = old;
  }
}

Meddler meddle(const BoxCase& c) {
  const Program program = program_of(c);
  Meddler out;
  out.is_load = c.is_load;
  const target::Target target{.arch = target::parse_arch(program.target).value(), .ptx = 90};
  const script::Compiled compiled =
      script::compile(SourceText("test.py", program.source), {.target = target});
  EXPECT_TRUE(compiled.function) << program.source;
  if (!compiled.function) return out;
  const lower::Lowered lowered =
      lower::lower(*compiled.function, {.target = target, .observer = &out});
  EXPECT_TRUE(lowered.errors.empty());
  return out;
}

TEST(TmaFaults, AreCaughtByTheProof) {
  const auto check = [](const BoxCase& c, int least) {
    const Meddler done = meddle(c);
    EXPECT_GE(done.caught, least);
    for (const std::string& missed : done.missed) ADD_FAILURE() << missed << "\n" << source_of(c);
  };
  const BoxCase c{.array = {64, 256},
                  .shared = {32, 64},
                  .tile = swizzled(3, 3, 3, "S[(32, 64) : (64, 1)]"),
                  .from = "[16 + bx * 32:48 + bx * 32, 64 + bx * 64:128 + bx * 64]",
                  .settings = "fill_value=0",
                  .grid = {3}};
  check(c, 8);
  BoxCase store = c;
  store.is_load = false;
  store.settings = "clip=True";
  check(store, 6);
  BoxCase reduction = store;
  reduction.settings = "clip=True, use_tma_reduce=\"add\"";
  check(reduction, 8);
  // Three dimensions, of which one is split.
  BoxCase split{.dtype = "float32",
                .array = {6, 8, 128},
                .shared = {2, 4, 64},
                .tile = swizzled(2, 3, 3, "S[(2, 4, 2, 32) : (512, 32, 128, 1)]"),
                .from = "[bx * 2:bx * 2 + 2, bx * 3:bx * 3 + 4, 64:128]",
                .settings = "fill_value=0",
                .grid = {4}};
  check(split, 10);
  // To both CTAs of a cluster.
  BoxCase multicast = c;
  multicast.cluster = 2;
  multicast.grid = {6};
  multicast.settings = "fill_value=0, cta_mask=3";
  multicast.sends = "rank == 0";
  multicast.from = "[16 + bx // 2 * 32:48 + bx // 2 * 32, 64 + bx // 2 * 64:128 + bx // 2 * 64]";
  check(multicast, 10);
}

}  // namespace
}  // namespace ww::test::tma_faults_test
