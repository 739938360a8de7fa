// SPDX-License-Identifier: Apache-2.0
// The JSON of every command against its schema in docs/reference/schema: what is printed is
// described, and what is described as required is printed.
#include "tools/cli/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tools/cli/program.h"

namespace ww::cli_test::schema_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

fs::path schema_folder() { return fs::path(WW_SOURCE_DIR) / "docs" / "reference" / "schema"; }

Json read_schema(const std::string& name) {
  std::ifstream in(schema_folder() / (name + ".json"));
  return Json::parse(in, nullptr, false);
}

// An array of registers whose index is known at run time only.
constexpr const char* kSpill = R"(
@T.prim_func
def spill(A_ptr: T.handle, B_ptr: T.handle):
    A = T.match_buffer(A_ptr, (32,), "int32")
    B = T.match_buffer(B_ptr, (32,), "int32")
    T.device_entry()
    tid = T.thread_id([32])
    r = T.alloc_buffer((4,), "int32", scope="local")
    for i in T.vectorized(4):
        r[i] = A[tid] + i
    B[tid] = r[A[tid] % 4]
)";

// A tile in columns, used with one in rows.
constexpr const char* kConvert = R"(
from tvm.tirx.layout import column_layout, row_layout

@T.prim_func
def convert(X: T.Buffer((64, 64), "float32"), Y: T.Buffer((64, 64), "float32")):
    T.device_entry()
    T.cta_id([1])
    T.thread_id([128])
    r = T.alloc_local((64, 64), "float32", layout=row_layout((64, 64), 128))
    c = T.alloc_local((64, 64), "float32", layout=column_layout((64, 64), 128))
    x = T.alloc_local((64, 64), "float32", layout="auto")
    Tx.cta.copy(r, X)
    Tx.cta.copy(c, X)
    Tx.cta.mul(x, c, r)
    Tx.cta.copy(Y, x)
)";

// A grid that the host works out, and large clusters with dynamic shared memory.
constexpr const char* kLaunch = R"(
@T.prim_func
def launched(A_ptr: T.handle, by: T.int32):
    n = T.int32()
    rows: T.let = n * by
    A = T.match_buffer(A_ptr, (n, 4), "int32")
    T.device_entry()
    T.cta_id([rows * 16])
    c = T.cta_id_in_cluster([16])
    t = T.thread_id([32])
    staged = T.alloc_buffer((32,), "int32", scope="shared.dyn")
    staged[t] = t
    if t < 4 and c == 0:
        A[0, t] = staged[t]
)";

// Stores a register whose load is skipped.
constexpr const char* kSkipped = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a)
{
  .reg .pred %p0;
  .reg .b32 %r<3>;
  .reg .b64 %rd0;
  .loc 1 3 5
  ld.param.u64 %rd0, [a];
  mov.u32 %r1, %tid.x;
  setp.eq.u32 %p0, %r1, 99;
  @%p0 ld.global.u32 %r0, [%rd0];
  add.u32 %r2, %r0, 1;
  st.global.u32 [%rd0], %r2;
  ret;
}
.file 1 "k.cu"
)";

// A command, in a folder where `examples` is the project's, bad.ptx is no PTX, slow.ptx uses local
// memory, and skipped.ptx, spill.py, convert.py and launch.py are the above.
struct Case {
  std::string schema;
  std::string command;
  std::string file = {};  // that holds the JSON; empty: stdout
};

const Case kCases[] = {
    {"examples", "examples --json"},
    {"run", "run examples/findings/race.py --device sim --json"},
    {"run", "run examples/basics/ldstmatrix.py --device sim --expect 'B == A + A' --json"},
    {"run", "run examples/basics/gemm.py --device eval --expect 'D_g ~= A_g @ B_g' --json"},
    {"run", "run examples/tcgen05_stages.py --device sim --out B=b.npy --json"},
    {"run", "run examples/pipeline.py --device sim --schedules 2 --json"},
    {"explain", "explain examples/basics/ldstmatrix.py --json"},
    {"explain", "explain examples/gemm_mma.py --json"},
    {"explain", "explain examples/rows/softmax.py --json"},
    {"explain", "explain convert.py --json"},
    {"explain", "explain examples/tcgen05_cp.py --json"},
    {"explain", "explain examples/refused/overlap.py --json"},
    {"explain", "explain spill.py --json"},
    {"explain", "explain spill.py --sass --json"},
    {"launch", "compile launch.py --emit launch"},
    {"launch", "compile examples/tma_copy.py --emit launch"},
    {"launch", "compile examples/tma_pipeline.py --emit launch"},
    {"sim",
     "sim examples/ptx/vector_add.ptx --grid 4 --block 64 --arg 0=f32[256]:arange "
     "--arg 1=f32[256]:ones --arg 2=f32[256] --arg 3=i32:256 --expect '$2 == $0 + $1' --counters "
     "--json"},
    {"sim",
     "sim examples/ptx/vector_add.ptx --grid 5 --block 64 --arg 0=f32[200]:arange "
     "--arg 1=f32[256]:ones --arg 2=f32[256] --arg 3=i32:256 --expect '$2 == $1' --trace 0:0 "
     "--json"},
    {"sim", "sim slow.ptx --grid 1 --block 1 --schedules 2 --json"},
    {"sim-launches",
     "sim examples/ptx/launches.ptx --arg x=f32[32]:arange --arg y=f32[32] --arg z=f32[32] "
     "--launch 'scale<<<1, 32>>>(x, y)' --launch 'add_early<<<1, 32, programmatic>>>(x, y, z)' "
     "--expect 'z == x' --counters --json"},
    {"sim-launches", "sim slow.ptx --schedules 2 --launch 'k<<<1, 1>>>()' --json"},
    {"sim", "sim skipped.ptx --grid 1 --block 1 --arg a=u32[4] --json"},
    {"sim-launches", "sim skipped.ptx --arg a=u32[4] --launch 'k<<<1, 1>>>(a)' --json"},
    {"sim", "sim slow.ptx --grid 1 --block 1 --sass --json"},
    {"timeline", "run examples/pipeline.py --timeline pipeline.json", "pipeline.json"},
    {"timeline", "run examples/pipeline.py --kernel 'build(lines=1200)' --timeline long.json",
     "long.json"},
    {"timeline",
     "sim examples/ptx/bulk_ring.ptx --grid 1 --block 64 --arg a=i32[4,32]:arange --arg "
     "b=i32[4,32] "
     "--timeline ring.json",
     "ring.json"},
    {"tune",
     "tune examples/transpose.py --kernel 'build(tile=?)' --space tile=32,64 --device sim "
     "--expect 'B == A.T' --json"},
    {"tune-best",
     "tune examples/copy_through.py --kernel 'build(threads=?)' --space threads=64,128 --device "
     "sim -o best.json",
     "best.json"},
    {"layout", "layout 'mma_frag(A,16,float16)' --op at:laneid=5,m=1 --as json"},
    {"layout", "layout 'mma_shared(float16,128B,8,64)' --dtype float16 --as json"},
    {"layout", "layout 'tmem_datapath(F,64,4)' --as json"},
    {"layout", "layout 'S[(2,2):(2,2)]' --op 'equal:S[4:1]' --as json"},
    {"layout", "layout 'row_major(4,32)' --var k=0:4 --op 'slice:0:4,8*k:8*k+8' --as json"},
    {"layout", "layout 'row_major(4,4)' --op inverse --op span --op group:4,4 --as json"},
    {"variants", "variants --json"},
    {"doctor", "doctor --json"},
    {"reference", "reference names --json"},
    {"reference", "reference not-taken --json"},
    {"reference", "reference primitives --json"},
    {"reference", "reference settings --json"},
    {"reference", "reference kinds --json"},
    {"reference", "reference rules --json"},
    {"isa-list", "isa list --json"},
    {"isa-forms", "isa list matrix --json"},
    {"isa-show", "isa show ldmatrix --json"},
    {"isa-show", "isa show mma --json"},
    {"isa-opcode", "isa show mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 --json"},
    {"isa-opcodes", "isa show mov.b64 --json"},
    {"isa-opcodes", "isa show wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 --json"},
    {"isa-special", "isa show %laneid --json"},
    {"isa-check", "isa check examples/ptx/vector_add.ptx --json"},
    {"isa-check", "isa check bad.ptx --json"},
    {"isa-select", "isa select family=ldmatrix num=2 shape=0 sz=0 trans=1 layout=0 --json"},
    {"isa-select", "isa select family=ldmatrix num=2 shape=3 sz=2 trans=0 layout=1 --json"},
    {"isa-select-table", "isa select --json"},
    {"isa-select-table", "isa select id=9863 --json"},
    {"isa-registers", "isa registers --json"},
    {"bench", "bench layout --filter '^parse/4$' --repetitions 2 --json"},
};

class Schemas : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory_symlink(fs::path(WW_SOURCE_DIR) / "examples",
                                 fs::path(folder_.path()) / "examples");
    std::ofstream(fs::path(folder_.path()) / "bad.ptx")
        << ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n  nosuch;\n}\n";
    std::ofstream(fs::path(folder_.path()) / "slow.ptx")
        << ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n"
           "  .local .b32 l;\n  .loc 1 3 5\n  st.local.b32 [l], 1;\n  ret;\n}\n.file 1 \"k.cu\"\n";
    std::ofstream(fs::path(folder_.path()) / "skipped.ptx") << kSkipped;
    std::ofstream(fs::path(folder_.path()) / "spill.py") << kSpill;
    std::ofstream(fs::path(folder_.path()) / "convert.py") << kConvert;
    std::ofstream(fs::path(folder_.path()) / "launch.py") << kLaunch;
  }

  // Programs that stand for ptxas and nvdisasm: both kernels of `--sass` spill a register.
  [[nodiscard]] std::vector<std::string> tools() const {
    const auto script = [&](const char* name, const std::string& body) {
      const fs::path path = fs::path(folder_.path()) / name;
      std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
      fs::permissions(path, fs::perms::owner_all);
      return path.string();
    };
    const auto code = [](const std::string& name, int line) {
      return ".text." + name + ":\\n//## File \".nv_debug_ptx_txt\", line " + std::to_string(line) +
             "\\n/*0000*/ STL [R1], R2 ;\\n/*0010*/ EXIT ;\\n";
    };
    return {"PTXAS=" + script("ptxas", "cp \"$2\" \"$4\"; echo '0, 8 bytes spill stores'"),
            "NVDISASM=" + script("nvdisasm", "printf '" + code("k", 8) + code("spill", 40) + "'"),
            kQuickBenchmarks};
  }

  // What the command prints or writes; both tests ask, and the program answers once.
  [[nodiscard]] const std::string& output_of(const Case& each) const {
    static std::map<std::string, std::string> known;
    const auto [at, is_new] = known.try_emplace(std::string(each.command));
    if (is_new) at->second = new_output_of(each);
    return at->second;
  }

  [[nodiscard]] std::string new_output_of(const Case& each) const {
    const Ran ran = run(words_of(each.command), {.environment = tools(), .folder = folder_.path()});
    EXPECT_LT(ran.status, 3) << each.command << "\n" << ran.err;
    if (ran.err.find("`warpwright-bench` is not here") != std::string::npos) return "";
    if (each.file.empty()) return ran.out;
    std::ifstream in(fs::path(folder_.path()) / each.file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  Folder folder_;
};

TEST_F(Schemas, DescribeWhatCommandsPrint) {
  for (const Case& each : kCases) {
    const std::string text = output_of(each);
    if (text.empty() && each.schema == "bench") continue;  // a build without benchmarks
    const Json json = Json::parse(text, nullptr, false);
    ASSERT_TRUE(json.is_object()) << each.command << "\n" << text;
    EXPECT_EQ(json.begin().key(), "schema") << each.command;
    EXPECT_THAT(violations(json, read_schema(each.schema)), IsEmpty()) << each.command;
  }
}

// Every property of every schema is seen in some output, but for those that take a GPU.
TEST_F(Schemas, DescribeNothingThatIsNeverPrinted) {
  const std::set<std::string> on_gpu = {"sim.gpu.name",
                                        "sim.gpu.compared",
                                        "sim.gpu.differs",
                                        "run.time.launches",
                                        "run.time.median_seconds",
                                        "run.time.fastest_seconds",
                                        "run.time.slowest_seconds",
                                        "tune.ranked[].time_us.median",
                                        "tune.ranked[].time_us.fastest",
                                        "tune.ranked[].time_us.slowest",
                                        "tune-best.time_us"};
  std::set<std::string> seen;
  std::set<std::string> described;
  for (const Case& each : kCases) {
    if (each.schema == "bench") continue;
    collect_seen(Json::parse(output_of(each), nullptr, false), each.schema, seen);
    collect_described(read_schema(each.schema), each.schema, described);
  }
  for (const std::string& key : described)
    EXPECT_TRUE(seen.contains(key) || on_gpu.contains(key)) << key << " is in no output";
}

TEST_F(Schemas, AreComplete) {
  std::set<std::string> tested;
  for (const Case& each : kCases) tested.insert(each.schema);
  std::set<std::string> files;
  for (const auto& entry : fs::directory_iterator(schema_folder())) {
    const std::string name = entry.path().stem().string();
    // tests/tools/explore_server has those of the explorer, python/tests that of `check`.
    if (!name.starts_with("explore-") && name != "check") files.insert(name);
    const Json schema = read_schema(name);
    ASSERT_TRUE(schema.is_object()) << name;
    EXPECT_THAT(schema_problems(schema), IsEmpty()) << name;
    EXPECT_EQ(schema["$id"], "warpwright/" + name + "/1");
    EXPECT_EQ(schema["properties"]["schema"]["const"], schema["$id"]);
  }
  EXPECT_EQ(tested, files);
}

TEST_F(Schemas, CoverEveryCommandWithJson) {
  std::set<std::string> tested;
  for (const Case& each : kCases) tested.insert(each.command.substr(0, each.command.find(' ')));
  const std::string help = run({"--help"}).out;
  const std::string list = help.substr(help.find("commands:"), help.find("options:"));
  std::istringstream lines(list);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ") || line.starts_with("  help")) continue;
    const std::string name = line.substr(2, line.find(' ', 2) - 2);
    const std::string options = run({"help", name}).out;
    const bool has_json =
        options.find("json") != std::string::npos || options.find("as JSON") != std::string::npos;
    EXPECT_EQ(has_json, tested.contains(name)) << name;
  }
}

// The validator sees what is wrong.
TEST(SchemaValidator, SeesPlantedFaults) {
  const Json schema = Json::parse(R"({"type":"object","required":["a","n"],
    "additionalProperties":false,"$defs":{"d":{"type":"integer"}},
    "properties":{"a":{"type":["string","null"],"enum":["x",null]},
                  "n":{"type":"array","maxItems":2,"items":{"$ref":"#/$defs/d"}},
                  "m":{"type":"object","additionalProperties":{"type":"boolean"}},
                  "o":{"anyOf":[{"type":"null"},{"type":"number","minimum":1}]}}})");
  const auto found = [&](const char* text) { return violations(Json::parse(text), schema); };
  EXPECT_THAT(found(R"({"a":"x","n":[1,2],"m":{"q":true},"o":1.5})"), IsEmpty());
  EXPECT_THAT(found(R"({"a":null,"n":[]})"), IsEmpty());
  EXPECT_THAT(found(R"({"a":"x"})"), ElementsAre(HasSubstr("`n` is missing")));
  EXPECT_THAT(found(R"({"a":"y","n":[]})"), ElementsAre(HasSubstr("$.a: \"y\" is not one of")));
  EXPECT_THAT(found(R"({"a":"x","n":[1,"2"]})"), ElementsAre(HasSubstr("$.n[1]: \"2\" is no")));
  EXPECT_THAT(found(R"({"a":"x","n":[1.5]})"), ElementsAre(HasSubstr("is no \"integer\"")));
  EXPECT_THAT(found(R"({"a":"x","n":[1,2,3]})"), ElementsAre(HasSubstr("too many")));
  EXPECT_THAT(found(R"({"a":"x","n":[],"z":1})"), ElementsAre(HasSubstr("$.z: the key is not")));
  EXPECT_THAT(found(R"({"a":"x","n":[],"m":{"q":1}})"), ElementsAre(HasSubstr("$.m.q: 1 is no")));
  EXPECT_THAT(found(R"({"a":"x","n":[],"o":0})"), ElementsAre(HasSubstr("fits none of 2")));
  EXPECT_THAT(violations(Json(1), Json{{"pattern", "x"}}), ElementsAre(HasSubstr("unknown")));
  EXPECT_THAT(schema_problems(Json::parse(R"({"properties":{"a":{"type":"null"}},
                                              "required":["b"]})")),
              ElementsAre(HasSubstr("does not describe"), HasSubstr("requires `b`")));
  EXPECT_THAT(schema_problems(Json::parse(R"({"items":{"type":"string"}})")),
              ElementsAre(HasSubstr("$[]: has no description")));
}

}  // namespace
}  // namespace ww::cli_test::schema_test
