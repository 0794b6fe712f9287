// Where things lie in the 64-bit address space that a kernel sees. Windows are far apart and each buffer has four GiB to
// itself, so that an address out of bounds still says which buffer it missed.
//
// A shared address has 32 bits: the offset in the block's shared memory, and in the top byte, for addresses made by mapa,
// one more than the rank of the block in its cluster; 0 there is the executing block.
#pragma once

#include <cstdint>

namespace warpcheck::ptx {

constexpr uint64_t kGlobalWindow = 0x7000'0000'0000;
constexpr uint64_t kBufferSpacing = 0x1'0000'0000;
constexpr uint64_t kBufferStart = 0x4000'0000;  // inside its four GiB, so that negative offsets stay there
constexpr uint64_t kSharedWindow = 0x6000'0000'0000;
constexpr uint64_t kParamWindow = 0x5000'0000'0000;
constexpr uint64_t kLocalWindow = 0x4000'0000'0000;
constexpr uint64_t kWindowBytes = 0x1000'0000'0000;
constexpr uint32_t kRankShift = 24;
constexpr uint64_t kSharedStart = 1024;  // the first shared variable: 0 stays a null pointer

constexpr uint64_t buffer_address(uint32_t region) { return kGlobalWindow + region * kBufferSpacing + kBufferStart; }
constexpr bool in_window(uint64_t address, uint64_t window) { return address - window < kWindowBytes; }

}  // namespace warpcheck::ptx
