// Mutated launch files and .npy files: read, or refused by InputError; never anything else.
#include <gtest/gtest.h>

#include <random>

#include "frontends/ptx/launch_file.h"
#include "model/machine.h"
#include "tests/support/command.h"

namespace warpcheck::ptx {
namespace {

using warpcheck::testing::Folder;
using warpcheck::testing::read_file;
using warpcheck::testing::write_file;

const std::string kLaunch = R"(entry = "ring"
ptx = "ring.ptx"
grid = [2, 1]
block = [64]
cluster = [2]
dynamic_shared = 264
[[arg]]
name = "in"
buffer = "s32[128]"
init = "x.npy"
expect = [0, "_", 4]
tolerance = 1e-3
[[arg]]
name = "x"
scalar = "bf16"
value = -1.5
[[arg]]
name = "map"
tensormap = { over = "m", type = "f16", dims = [16, 16], strides = [64], box = [8, 8], swizzle = "32B", fill = "nan" }
[[arg]]
name = "p"
struct = 56
fields = [{ at = 0, address = "m" }, { at = 16, type = "s32", value = [1, 0] }]
[[arg]]
name = "q"
address = "m"
offset = 64
[[buffer]]
name = "m"
buffer = "u8[300]"
init = "iota"
[[symbol]]
name = "t"
init = [1, 2]
)";

std::string mutated(std::string text, std::mt19937& engine) {
  const auto below = [&](size_t limit) { return static_cast<size_t>(engine()) % limit; };
  const std::string letters = "0123456789-_.,[]{}()='\"\n \x00\xff" "aefinostx";
  for (size_t count = 1 + below(3); count > 0 && !text.empty(); --count) {
    const size_t at = below(text.size());
    switch (below(4)) {
      case 0: text[at] = letters[below(letters.size())]; break;
      case 1: text.erase(at, 1 + below(8)); break;
      case 2: text.insert(at, 1 + below(4), letters[below(letters.size())]); break;
      case 3: text.insert(at, text.substr(below(text.size()), below(20))); break;
    }
  }
  return text;
}

TEST(Fuzz, LaunchFilesAreReadOrRefused) {
  const Folder folder;
  const std::string npy = std::string("\x93NUMPY\x01\x00", 8) + '\x40' + '\0' +
                          "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }      \n" + std::string(8, '\x05');
  std::mt19937 random(1);
  unsigned refused = 0;
  for (int i = 0; i < 4000; ++i) {
    write_file(folder / "x.npy", i % 4 == 0 ? mutated(npy, random) : npy);
    try {
      parse_launch_file(i % 4 == 0 ? kLaunch : mutated(kLaunch, random), folder / "k.toml");
    } catch (const InputError& error) {
      ++refused;
      EXPECT_NE(std::string(error.what()), "");
    }
  }
  EXPECT_GT(refused, 1000U);
}

}  // namespace
}  // namespace warpcheck::ptx
