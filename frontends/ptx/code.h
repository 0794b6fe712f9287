// What runs: the entry's instructions with operands resolved to register slots, branch targets and reconvergence points
// found, and a function for each. Immutable, shared by all machines of a program.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/ptx/float_format.h"
#include "frontends/ptx/module.h"
#include "model/gpu_machine.h"

namespace warpcheck::ptx {

class Interpreter;
struct Fragment;
struct Warp;
struct Code;

// What the interpreter does next for a fragment.
enum class Flow : uint8_t {
  kNext,  // go on with the next instruction
  kJump,  // the instruction has set where to go on
  kStop,  // a visible operation is posted, or the fragment has ended
};

// Per-lane arithmetic, and everything else.
using LaneFunction = void (*)(Warp& warp, const Code& code, LaneMask lanes);
using ControlFunction = Flow (*)(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask active);

// A source: a register slot or a constant.
struct Source {
  uint32_t slot = kNone;
  uint64_t value = 0;
  bool negated = false;  // predicates: !p
};

enum class MemorySpace : uint8_t { kGeneric, kGlobal, kShared, kSharedCluster, kConst, kLocal, kParam };

// [base + offset]
struct AddressOperand {
  Source base;
  int64_t offset = 0;
};

// How a float instruction works, beyond its operation.
struct FloatForm {
  Format format = Format::kF32;
  Rounding rounding = Rounding::kNearest;
  uint8_t count = 1, operands = 0;   // values packed in a register; sources
  bool flushes = false, saturates = false, saturates_finite = false, relu = false, keeps_nan = false, xor_sign = false;
  // cvt: the destination's and the source's type
  bool is_float = true, from_float = true, from_signed = false, to_whole = false;
  Format from_format = Format::kF32;
  uint8_t width = 32, from_width = 32, from_count = 1;
  Format result = Format::kF32, addend = Format::kF32;  // mma: of the accumulators
};

struct WgmmaForm;
struct Tcgen05Form;

struct Code {
  LaneFunction lanes = nullptr;
  ControlFunction control = nullptr;
  ControlFunction together = nullptr;  // of collectives: runs once all lanes that take part have met
  uint32_t predicate = kNone;  // slot
  bool predicate_negated = false;
  SiteId site = kNoSite;       // also its index

  std::array<uint32_t, 2> to = {kNone, kNone};  // destination slots
  std::array<Source, 4> from;
  std::vector<uint32_t> to_vector;              // ld.v2/v4
  std::vector<Source> from_vector;              // st.v2/v4
  std::array<AddressOperand, 3> at;

  uint32_t target = kNone;          // branches
  uint32_t join = kNone;            // where lanes that part here meet again; kNone: at their end
  std::vector<uint32_t> targets;    // brx.idx

  MemorySpace space = MemorySpace::kGeneric, source_space = MemorySpace::kGeneric;
  uint8_t bytes = 0;                // of an element
  bool is_signed = false;
  bool strong = false;              // ld, st: relaxed or more
  bool approximate = false;         // the host's function stands for the hardware's
  FloatForm form;
  bool opaque = false;              // the result is not what hardware computes to the last bit
  bool result_dead = false;         // atomics
  bool blocks = false;              // try_wait, strong loads: failing leads back without effect
  bool aligned = true, by_parity = false, drop = false, reads_only = false, bulk = false, count_given = false;
  Order order = Order::kRelaxed;
  Scope scope = Scope::kDevice;
  OpKind op = OpKind::kLocal;
  Rmw rmw = Rmw::kNone;
  FenceKind fence = FenceKind::kThread;
  uint8_t mode = 0;                 // shfl, vote, match: which; shf.wrap; prmt mode
  bool quiet = false;               // branches, hints: may stand in a loop that only polls
  bool follows = false;             // ld: whether the value takes effect is to be seen (load_values.h)
  bool mild = false;                // notes by itself whether it had an effect that ends a poll
  bool meets = false;               // a barrier of the block, or an instruction that lanes run together
  bool in_round = false;            // ... in a loop with a poll (rounds.h)
  std::vector<uint32_t> live;       // strong loads, atomics: registers that are read later, unless overwritten first
  bool by_rows = false;             // tensor copies: four rows, named one by one
  std::string_view name;            // tensor copies: the reduction; tensormap.replace: the field
  uint64_t immediate = 0;           // lop3 table, wait_group n
  std::shared_ptr<const WgmmaForm> wgmma;
  std::shared_ptr<const Tcgen05Form> tcgen05;
};

enum class Special : uint8_t {
  kTidX, kTidY, kTidZ, kNtidX, kNtidY, kNtidZ, kCtaidX, kCtaidY, kCtaidZ, kNctaidX, kNctaidY, kNctaidZ, kLane, kWarp,
  kWarps, kClusterX, kClusterY, kClusterZ, kClustersX, kClustersY, kClustersZ, kClusterCtaX, kClusterCtaY, kClusterCtaZ,
  kClusterSizeX, kClusterSizeY, kClusterSizeZ, kClusterRank, kClusterSize, kMaskEq, kMaskLe, kMaskLt, kMaskGe, kMaskGt,
  kIsExplicitCluster, kDynamicShared, kTotalShared,
  kZero,     // %gridid, %envreg of a launch that has none
  kUnknown,  // clocks, %smid, ...: opaque
};

struct SpecialSlot {
  Special special = Special::kUnknown;
  uint32_t slot = 0;
};

// The launch's shape, for special registers.
struct Shape {
  std::array<uint32_t, 3> grid = {1, 1, 1}, block = {1, 1, 1}, cluster = {1, 1, 1};
  bool explicit_cluster = false;

  uint32_t threads() const { return block[0] * block[1] * block[2]; }
  uint32_t blocks() const { return grid[0] * grid[1] * grid[2]; }
  uint32_t cluster_blocks() const { return cluster[0] * cluster[1] * cluster[2]; }
  uint32_t warps() const { return (threads() + 31) / 32; }
};

struct Kernel {
  Shape shape;
  std::vector<Code> code;
  uint32_t slots = 0;
  std::vector<SpecialSlot> specials;
  std::vector<uint8_t> params;             // the bytes of the parameters
  uint64_t local_bytes = 0;                // .local of one thread
  uint64_t shared_bytes = 0;               // of one block, from address 0; static and dynamic
  uint64_t dynamic_shared = 0;
  RegionId zeros{};                        // 16 zero bytes
  uint32_t global_regions = 0;             // regions 0.. of global memory; then one of shared memory a block
  std::vector<uint32_t> countless_barriers;  // ids used without a thread count: exits count as arrivals there
  bool uses_cluster_barrier = false;
  bool has_rounds = false;
  std::vector<std::string> opcodes;        // text of each instruction
};

}  // namespace warpcheck::ptx
