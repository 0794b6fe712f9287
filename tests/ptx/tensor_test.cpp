// Tensor copies place elements right, clip boxes and count their bytes; tensor maps in memory; cp.async on mbarriers.
#include <gtest/gtest.h>

#include <cstring>

#include "frontends/ptx/tensor_map.h"
#include "kernel.h"
#include "model/gpu_machine.h"

namespace warpcheck::ptx {
namespace {

using testing::describe;
using testing::errors;

// `out` is written by the kernel, `src` (iota) lies behind the map.
LaunchSpec map_launch(TensorMapSpec map, uint32_t threads, uint64_t out, uint64_t src) {
  LaunchSpec spec = testing::launch(threads, out);
  BufferSpec source = spec.buffers[0];
  source.name = "src";
  source.count = src;
  source.init.elements.clear();
  for (uint64_t i = 0; i < src; ++i) source.init.elements.emplace_back(i);
  spec.buffers.push_back(source);
  ArgSpec arg;
  arg.kind = ArgSpec::Kind::kTensorMap;
  arg.name = "map";
  map.over = "src";
  map.type = {"u32", 4, false};
  arg.tensor_map = std::move(map);
  spec.args.push_back(arg);
  return spec;
}

TensorMapSpec matrix(uint64_t width, uint64_t height, uint32_t box_width, uint32_t box_height, std::string swizzle = "none") {
  TensorMapSpec map;
  map.dims = {width, height};
  map.strides = {width * 4};
  map.box = {box_width, box_height};
  map.element_strides = {1, 1};
  map.swizzle = std::move(swizzle);
  return map;
}

std::string entry(const std::string& body) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n"
         ".visible .entry k(.param .u64 out, .param .align 64 .b8 map[128])\n{\n"
         ".reg .pred %p<20>; .reg .b16 %h<20>; .reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .f32 %f<20>;\n"
         ".shared .align 1024 .b8 tile[4096]; .shared .align 8 .b64 bar;\n"
         "ld.param.u64 %rd0, [out]; mov.b64 %rd1, map; cvta.param.u64 %rd2, %rd1; mov.u32 %r30, %tid.x;\n" +
         body + "\n}\n";
}

std::string load(const std::string& dims, const std::string& at, uint64_t bytes) {
  return "mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster;\n"
         "mbarrier.arrive.expect_tx.shared.b64 _, [bar], " + std::to_string(bytes) + ";\n"
         "cp.async.bulk.tensor." + dims + ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], [%rd2, {" + at + "}], [bar];\n"
         "W: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra W;\n";
}

// Copies `count` words of the tile to out.
std::string dump(uint32_t count) {
  std::string text = "mov.u32 %r1, tile;\n";
  for (uint32_t i = 0; i < count; ++i) {
    text += "ld.shared.u32 %r2, [%r1+" + std::to_string(4 * i) + "]; st.global.u32 [%rd0+" + std::to_string(4 * i) + "], %r2;\n";
  }
  return text + "ret;";
}

ExploreResult run(const std::string& body, const LaunchSpec& spec, std::vector<uint32_t>* out = nullptr) {
  const auto program = make_program(spec, entry(body), "k.ptx");
  ExploreOptions options;
  options.keep_going = true;
  options.on_execution = [&](const ExecutionView& view) {
    if (out == nullptr) return;
    const auto bytes = dynamic_cast<const GpuMachine&>(view.machine).bytes(RegionId{0});
    out->resize(bytes.size() / 4);
    std::memcpy(out->data(), bytes.data(), bytes.size());
  };
  return explore(*program, options);
}

TEST(TensorMap, SurvivesItsBytes) {
  TensorMap map;
  map.address = 0x700040000000;
  map.rank = 3;
  map.element_type = 6;
  map.dims = {uint64_t{1} << 32, 7, 9, 1, 1};
  map.strides = {64, 128, 0, 0};
  map.box = {256, 2, 3, 1, 1};
  map.swizzle = 3;
  const auto back = decode_tensor_map(encode(map));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(encode(*back), encode(map));
  EXPECT_EQ(back->dims[0], uint64_t{1} << 32);
  EXPECT_EQ(back->box_bytes(), 256U * 2 * 3 * 2);
  EXPECT_FALSE(decode_tensor_map(TensorMapBytes{}).has_value());
}

TEST(TensorCopy, LoadsTheBoxThatItsCoordinatesName) {
  std::vector<uint32_t> out;
  const auto result = run(load("2d", "4, 1", 32) + dump(8), map_launch(matrix(16, 16, 4, 2), 1, 8, 256), &out);
  EXPECT_EQ(result.verdict, Verdict::kVerified) << describe(result);
  EXPECT_EQ(out, (std::vector<uint32_t>{20, 21, 22, 23, 36, 37, 38, 39}));
}

TEST(TensorCopy, FillsWithZerosBeyondTheTensorAndCountsThem) {
  std::vector<uint32_t> out;
  const auto result = run(load("2d", "-2, 15", 32) + dump(8), map_launch(matrix(16, 16, 4, 2), 1, 8, 256), &out);
  EXPECT_EQ(result.verdict, Verdict::kVerified) << describe(result);
  EXPECT_EQ(out, (std::vector<uint32_t>{0, 0, 240, 241, 0, 0, 0, 0}));
}

// Chunk c of row r lies at chunk c ^ f(r): rows of 128 bytes f = r mod 8, of 64 bytes r/2 mod 4, of 32 bytes r/4 mod 2.
TEST(TensorCopy, SwizzlesByTheBitsOfTheAddress) {
  struct Case {
    const char* swizzle;
    uint32_t words, divisor, modulus;
  };
  for (const Case& c : {Case{"128B", 32, 1, 8}, Case{"64B", 16, 2, 4}, Case{"32B", 8, 4, 2}}) {
    std::vector<uint32_t> out;
    const uint32_t rows = 8, count = c.words * rows;
    const auto result = run(load("2d", "0, 0", 4 * count) + dump(count), map_launch(matrix(c.words, rows, c.words, rows, c.swizzle), 1, count, count), &out);
    ASSERT_EQ(result.verdict, Verdict::kVerified) << describe(result);
    for (uint32_t r = 0; r < rows; ++r) {
      for (uint32_t w = 0; w < c.words; ++w) {
        const uint32_t chunk = w / 4 ^ (r / c.divisor % c.modulus);
        ASSERT_EQ(out[r * c.words + chunk * 4 + w % 4], r * c.words + w) << c.swizzle << " row " << r << " word " << w;
      }
    }
  }
}

TEST(TensorCopy, SkipsElementsByTheirStride) {
  TensorMapSpec map = matrix(4, 8, 4, 8);
  map.element_strides = {1, 3};
  std::vector<uint32_t> out;
  const auto result = run(load("2d", "0, 1", 48) + dump(12), map_launch(map, 1, 12, 32), &out);
  EXPECT_EQ(result.verdict, Verdict::kVerified) << describe(result);
  EXPECT_EQ(out, (std::vector<uint32_t>{4, 5, 6, 7, 16, 17, 18, 19, 28, 29, 30, 31}));
}

TEST(TensorCopy, HasUpToFiveDimensions) {
  TensorMapSpec map;
  map.dims = {4, 2, 2, 2, 2};
  map.strides = {16, 32, 64, 128};
  map.box = {4, 1, 2, 1, 2};
  map.element_strides = {1, 1, 1, 1, 1};
  std::vector<uint32_t> out;
  const auto result = run(load("5d", "0, 1, 0, 1, 0", 64) + dump(16), map_launch(map, 1, 16, 64), &out);
  EXPECT_EQ(result.verdict, Verdict::kVerified) << describe(result);
  EXPECT_EQ(out, (std::vector<uint32_t>{20, 21, 22, 23, 28, 29, 30, 31, 52, 53, 54, 55, 60, 61, 62, 63}));
}

const std::string kFillTile = "mov.u32 %r1, tile; st.shared.v4.u32 [%r1], {5, 6, 7, 8}; fence.proxy.async.shared::cta;\n";
const std::string kAwaitStore = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;";

TEST(TensorCopy, StoresOnlyInsideTheTensor) {
  LaunchSpec spec = map_launch(matrix(4, 2, 4, 1), 1, 1, 8);
  spec.buffers[1].expect = Contents{{0, 1, 2, 3, 6, 7, 8, 7}};
  const auto result = run(kFillTile + "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {-1, 1}], [tile];" + kAwaitStore, spec);
  EXPECT_EQ(result.verdict, Verdict::kVerified) << describe(result);
}

TEST(TensorCopy, ReducesByElement) {
  LaunchSpec spec = map_launch(matrix(4, 2, 4, 1), 1, 1, 8);
  spec.buffers[1].expect = Contents{{0, 1, 2, 3, 9, 11, 13, 15}};
  const auto result = run(kFillTile + "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd2, {0, 1}], [tile];" + kAwaitStore, spec);
  EXPECT_EQ(result.verdict, Verdict::kVerified) << describe(result);
}

TEST(BulkCopy, ReductionsOfOneWordDoNotRaceWithEachOther) {
  LaunchSpec spec = map_launch(matrix(4, 2, 4, 1), 64, 4, 8);
  spec.buffers[0].expect = Contents{{10, 12, 14, 16}};
  const std::string body =
      "setp.eq.u32 %p2, %r30, 0; @%p2 bra F; bra M; F:" + kFillTile + "M: bar.sync 0; and.b32 %r2, %r30, 31; setp.ne.u32 %p3, %r2, 0; @%p3 ret;\n"
      "fence.proxy.async.shared::cta; cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd0], [tile], 16;" + kAwaitStore;
  const auto result = run(body, spec);
  EXPECT_EQ(result.verdict, Verdict::kVerified) << describe(result);
}

TEST(BulkCopy, AReductionAndAnAtomicThatReadsInNoOrderAreNotVerified) {
  const auto result = run(kFillTile + "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd0], [tile], 16; atom.global.add.u32 %r2, [%rd0], 1;\n"
                          "st.shared.u32 [%r1+64], %r2;" + kAwaitStore, map_launch(matrix(4, 2, 4, 1), 1, 4, 8));
  EXPECT_EQ(result.verdict, Verdict::kIncomplete) << describe(result);
}

// The map is copied to `out` as words, changed there, and used from there.
std::string map_in_memory(const std::string& change, const std::string& fence) {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    const std::string at = std::to_string(8 * i);
    text += "ld.param.u64 %rd3, [map+" + at + "]; st.global.u64 [%rd0+" + at + "], %rd3;\n";
  }
  return text + change + fence + "mov.b64 %rd2, %rd0;\n" + load("2d", "0, 0", 32) + "ret;";
}

TEST(TensorMapInMemory, NeedsAFenceForItsOwnBytes) {
  const LaunchSpec spec = map_launch(matrix(16, 16, 4, 2), 1, 64, 256);
  const std::string own = "fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;", other = "fence.proxy.tensormap::generic.acquire.gpu [%rd0+128], 128;";
  const auto fenced = run(map_in_memory("", own), spec);
  EXPECT_EQ(fenced.verdict, Verdict::kVerified) << describe(fenced);
  for (const std::string& fence : {std::string("fence.proxy.async;"), other}) {
    const auto result = run(map_in_memory("", fence), spec);
    const auto races = errors(result, FindingKind::kRace);
    ASSERT_FALSE(races.empty()) << describe(result);
    EXPECT_EQ(races[0].cause, Cause::kProxyFence);
  }
}

TEST(TensorMapInMemory, IsReplacedByField) {
  const LaunchSpec spec = map_launch(matrix(16, 16, 4, 2), 1, 64, 256);
  const std::string fence = "fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;";
  // Half the box, as many bytes expected: the barrier never completes.
  const auto result = run(map_in_memory("tensormap.replace.tile.box_dim.global.b1024.b32 [%rd0], 1, 1;", fence), spec);
  EXPECT_FALSE(errors(result, FindingKind::kDeadlock).empty()) << describe(result);
}

TEST(TensorMapInMemory, IsNotUsableMisaligned) {
  const LaunchSpec spec = map_launch(matrix(16, 16, 4, 2), 1, 64, 256);
  const std::string fence = "fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;";
  for (const char* change : {"add.u64 %rd9, %rd0, 4; tensormap.replace.tile.global_address.global.b1024.b64 [%rd0], %rd9;",
                             "tensormap.replace.tile.global_stride.global.b1024.b64 [%rd0], 0, 68;",
                             "tensormap.replace.tile.box_dim.global.b1024.b32 [%rd0], 0, 3;"}) {
    const auto result = run(map_in_memory(change, fence), spec);
    EXPECT_FALSE(errors(result, FindingKind::kMisaligned).empty()) << change << describe(result);
  }
}

TEST(TensorMapInMemory, IsCopiedByAWholeWarp) {
  const LaunchSpec spec = map_launch(matrix(16, 16, 4, 2), 32, 64, 256);
  const std::string fill = "mov.u32 %r1, tile; mad.lo.u32 %r2, %r30, 4, %r1; st.shared.u32 [%r2], 0; bar.warp.sync -1; setp.eq.u32 %p5, %r30, 0;\n";
  const std::string copy = "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned ";
  const auto whole = run(fill + copy + "[%rd0], [tile], 128; ret;", spec);
  EXPECT_EQ(whole.verdict, Verdict::kVerified) << describe(whole);
  const auto alone = run(fill + "@%p5 " + copy + "[%rd0], [tile], 128; ret;", spec);
  EXPECT_FALSE(errors(alone, FindingKind::kDivergence).empty()) << describe(alone);
  const auto differ = run(fill + "@%p5 add.u64 %rd0, %rd0, 128; " + copy + "[%rd0], [tile], 128; ret;", spec);
  EXPECT_FALSE(errors(differ, FindingKind::kDivergence).empty()) << describe(differ);
}

TEST(SmallCopies, TakeNoMoreThanTheyCopy) {
  const LaunchSpec spec = map_launch(matrix(4, 2, 4, 1), 1, 4, 8);
  const auto less = run("mov.u32 %r1, tile; cp.async.ca.shared.global [%r1], [%rd0], 8, 4; cp.async.wait_all; ret;", spec);
  EXPECT_EQ(less.verdict, Verdict::kVerified) << describe(less);
  const auto more = run("mov.u32 %r1, tile; cp.async.ca.shared.global [%r1], [%rd0], 4, 8; cp.async.wait_all; ret;", spec);
  EXPECT_FALSE(errors(more, FindingKind::kOutOfBounds).empty()) << describe(more);
}

const std::string kSmallCopy = "mov.u32 %r1, tile; mad.lo.u32 %r2, %r30, 4, %r1; mul.wide.u32 %rd5, %r30, 4; add.s64 %rd6, %rd0, %rd5;\n"
                               "setp.eq.u32 %p1, %r30, 0; @%p1 mbarrier.init.shared.b64 [bar], COUNT; bar.sync 0;\n"
                               "cp.async.ca.shared.global [%r2], [%rd6], 4; ARRIVE\n"
                               "W: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0; @!%p2 bra W;\n"
                               "xor.b32 %r3, %r30, 63; mad.lo.u32 %r3, %r3, 4, %r1; ld.shared.u32 %r4, [%r3]; st.shared.u32 [%r2+1024], %r4; ret;";

std::string small_copy(const std::string& count, const std::string& arrive) {
  std::string text = kSmallCopy;
  text.replace(text.find("COUNT"), 5, count);
  text.replace(text.find("ARRIVE"), 6, arrive);
  return text;
}

TEST(SmallCopies, ArriveWhenTheyAreComplete) {
  const LaunchSpec spec = map_launch(matrix(4, 2, 4, 1), 64, 64, 8);
  const auto noinc = run(small_copy("64", "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];"), spec);
  EXPECT_EQ(noinc.verdict, Verdict::kVerified) << describe(noinc);
  EXPECT_EQ(noinc.executions, 1U);
}

TEST(SmallCopies, ArriveBeyondTheCountWithoutNoinc) {
  const LaunchSpec spec = map_launch(matrix(4, 2, 4, 1), 2, 64, 8);
  const auto inc = run(small_copy("2", "cp.async.mbarrier.arrive.shared.b64 [bar]; mbarrier.arrive.shared.b64 _, [bar];"), spec);
  EXPECT_TRUE(errors(inc, FindingKind::kDeadlock).empty()) << describe(inc);
  EXPECT_TRUE(errors(inc, FindingKind::kRace).empty()) << describe(inc);
  const auto without = run(small_copy("2", "cp.async.mbarrier.arrive.shared.b64 [bar];"), spec);
  EXPECT_FALSE(errors(without, FindingKind::kDeadlock).empty()) << describe(without);
}

TEST(SmallCopies, AreNotCoveredByAPlainArrival) {
  const LaunchSpec spec = map_launch(matrix(4, 2, 4, 1), 64, 64, 8);
  const auto result = run(small_copy("64", "mbarrier.arrive.shared.b64 _, [bar];"), spec);
  EXPECT_FALSE(errors(result, FindingKind::kRace).empty()) << describe(result);
}

TEST(Groups, OfSmallAndBulkCopiesAreCountedApart) {
  const LaunchSpec spec = map_launch(matrix(4, 2, 4, 1), 1, 4, 8);
  const std::string body = "mov.u32 %r1, tile; cp.async.ca.shared.global [%r1+64], [%rd0], 4; cp.async.commit_group;\n" + kFillTile +
                           "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd2, {0, 0}], [tile]; cp.async.bulk.commit_group;\n";
  EXPECT_EQ(run(body + "cp.async.bulk.wait_group 0; cp.async.wait_group 0; ret;", spec).verdict, Verdict::kVerified);
  const auto result = run(body + "cp.async.bulk.wait_group 0; ld.shared.u32 %r2, [%r1+64]; st.global.u32 [%rd0+4], %r2; cp.async.wait_all; ret;", spec);
  EXPECT_FALSE(errors(result, FindingKind::kRace).empty()) << describe(result);
}

}  // namespace
}  // namespace warpcheck::ptx
