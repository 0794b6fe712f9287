#include "frontends/ptx/launch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/machine.h"
#include "tests/support/command.h"

namespace warpcheck::ptx {
namespace {

using ::testing::HasSubstr;
using warpcheck::testing::Folder;
using warpcheck::testing::write_file;

const std::string kHead = "ptx = \"k.ptx\"\n";

LaunchSpec parse(const std::string& text) { return parse_launch_file(kHead + text, "k.toml"); }

// The line of the InputError, or "" when there is none. Line 1 is kHead.
std::string error_of(const std::string& text) {
  try {
    parse(text);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(LaunchFile, ReadsShapes) {
  const LaunchSpec spec = parse("entry = 'k'\ngrid = [2, 3]\nblock = [64]\ncluster = [2]\ndynamic_shared = 264\n"
                                "cooperative = true\nprinted = 'x = 1'\n");
  EXPECT_EQ(spec.entry, "k");
  EXPECT_EQ(spec.grid, (std::array<uint32_t, 3>{2, 3, 1}));
  EXPECT_EQ(spec.block, (std::array<uint32_t, 3>{64, 1, 1}));
  EXPECT_EQ(spec.cluster, (std::array<uint32_t, 3>{2, 1, 1}));
  EXPECT_EQ(spec.dynamic_shared, 264U);
  EXPECT_TRUE(spec.cooperative);
  EXPECT_EQ(spec.printed, "x = 1");
}

TEST(LaunchFile, ResolvesThePtxAgainstItsOwnFolder) {
  EXPECT_EQ(parse_launch_file("ptx = '../p/k.ptx'", "a/b/k.toml").ptx, "a/p/k.ptx");
  EXPECT_EQ(parse_launch_file("ptx = '../p/k.ptx'", "a/b/k.toml", "other.ptx").ptx, "other.ptx");
}

TEST(LaunchFile, ReadsBuffers) {
  const LaunchSpec spec = parse("[[arg]]\nname = 'a'\nbuffer = 's32[4]'\ninit = [1, '_', -1]\nexpect = ['_', 2]\n"
                                "[[arg]]\nname = 'b'\nbuffer = 'f16[2]'\ninit = 'one'\n"
                                "[[buffer]]\nname = 'c'\nbuffer = 'u8[300]'\ninit = 'iota'\n");
  ASSERT_EQ(spec.buffers.size(), 3U);
  EXPECT_EQ(spec.buffers[0].init.elements,
            (std::vector<std::optional<uint64_t>>{1, std::nullopt, 0xffffffffU}));
  EXPECT_EQ(spec.buffers[0].expect->elements, (std::vector<std::optional<uint64_t>>{std::nullopt, 2}));
  EXPECT_EQ(spec.buffers[1].init.elements[0], 0x3c00U);
  EXPECT_DOUBLE_EQ(spec.buffers[1].tolerance, 1e-2);
  EXPECT_DOUBLE_EQ(spec.buffers[0].tolerance, 1e-5);
  EXPECT_EQ(spec.buffers[2].init.elements[258], 2U);
  EXPECT_EQ(spec.args.size(), 2U);
}

TEST(LaunchFile, ReadsScalarsStructsAndAddresses) {
  const LaunchSpec spec = parse(
      "[[arg]]\nname = 'n'\nscalar = 's32'\nvalue = -2\n"
      "[[arg]]\nname = 'x'\nscalar = 'f32'\nvalue = 1.5\n"
      "[[arg]]\nname = 'p'\nstruct = 56\nfields = [{ at = 0, address = 'm', offset = 8 }, { at = 16, type = 'u16', value = [1, 2] }]\n"
      "[[arg]]\nname = 'q'\naddress = 'm'\noffset = 64\n"
      "[[symbol]]\nname = 't'\ninit = [1, 2]\n"
      "[[buffer]]\nname = 'm'\nbuffer = 'u64[4]'\nfields = [{ at = 8, address = 'm' }]\n");
  EXPECT_EQ(spec.args[0].value, 0xfffffffeU);
  EXPECT_EQ(spec.args[1].value, 0x3fc00000U);
  EXPECT_EQ(spec.args[2].fields[0].address, "m");
  EXPECT_EQ(spec.args[2].fields[0].offset, 8U);
  EXPECT_EQ(spec.args[2].fields[1].bytes, (std::vector<uint8_t>{1, 0, 2, 0}));
  EXPECT_EQ(spec.args[3].offset, 64U);
  EXPECT_EQ(spec.symbols[0].init.elements.size(), 2U);
  EXPECT_TRUE(spec.buffers[0].init.elements.empty());
  EXPECT_EQ(spec.buffers[0].fields[0].at, 8U);
}

TEST(LaunchFile, ReadsTensorMaps) {
  const std::string buffer = "[[buffer]]\nname = 'm'\nbuffer = 's32[256]'\ninit = 'iota'\n";
  const LaunchSpec spec = parse("[[arg]]\nname = 'map'\ntensormap = { over = 'm', type = 's32', dims = [16, 16], "
                                "strides = [64], box = [8, 8], swizzle = '32B' }\n" + buffer);
  EXPECT_EQ(spec.args[0].tensor_map.dims, (std::vector<uint64_t>{16, 16}));
  EXPECT_EQ(spec.args[0].tensor_map.element_strides, (std::vector<uint32_t>{1, 1}));
  EXPECT_EQ(spec.args[0].tensor_map.swizzle, "32B");
  EXPECT_THAT(error_of("[[arg]]\nname = 'map'\ntensormap = { over = 'm', type = 's32', dims = [16, 16], strides = [], "
                       "box = [8, 8] }\n" + buffer),
              HasSubstr("k.toml:4: found 0 strides, expected 1"));
  EXPECT_THAT(error_of("[[arg]]\nname = 'map'\ntensormap = { over = 'x', type = 's32', dims = [16], box = [8] }\n"),
              HasSubstr("found 'x', expected the name of a buffer"));
}

struct Refusal {
  std::string text, line;
};

TEST(LaunchFile, RefusesInOneLine) {
  const std::string arg = "[[arg]]\nname = 'a'\n";
  const std::vector<Refusal> refusals = {
      {"gird = [1]", "k.toml:2: found key 'gird', expected one of entry, ptx, grid"},
      {"grid = 'x'", "k.toml:2: found 'x', expected a list of numbers for `grid`"},
      {"grid = [0]", "k.toml:2: found 0 in `grid`, expected 1 to"},
      {"grid = [1, 1, 1, 1]", "k.toml:2: found 4 numbers for `grid`, expected [x], [x, y] or [x, y, z]"},
      {"grid = [1.5]", "k.toml:2: found 1.5, expected a number >= 0 for `grid`"},
      {"block = [2048]", "k.toml:2: found block [2048, 1, 1], expected at most 1024"},
      {"grid = [1000000]\nblock = [1024]", "k.toml:2: found grid"},
      {"grid = [3]\ncluster = [2]", "k.toml:3: found cluster of 2 in a grid of 3, expected"},
      {"dynamic_shared = 1000000", "k.toml:2: found 1000000 bytes"},
      {"dynamic_shared = -1", "k.toml:2: found -1, expected a number >= 0"},
      {"cooperative = 1", "k.toml:2: found 1, expected true or false"},
      {"grid = [1", "k.toml:2: "},
      {"grid = [1]\ngrid = [1]", "k.toml:3: "},
      {"arg = 3", "k.toml:2: found 3, expected a list of tables for `arg`"},
      {arg + "buffer = 's32[4]'\ninit = 'iotaa'", "k.toml:5: found 'iotaa', expected one of zero, one, iota"},
      {arg + "buffer = 's33[4]'", "k.toml:4: found type 's33', expected one of u8"},
      {arg + "buffer = 's32'", "k.toml:4: found 's32', expected a type and a count"},
      {arg + "buffer = 's32[x]'", "k.toml:4: found count 'x', expected a number of elements"},
      {arg + "buffer = 's32[0]'", "k.toml:4: found 0 elements, expected 1 to"},
      {arg + "buffer = 's32[1000000000000]'", "k.toml:4: found 1000000000000 elements, expected 1 to"},
      {arg + "buffer = 's32[99999999999999999999999]'", "elements, expected 1 to"},
      {arg + "buffer = 's32[2]'\ninit = [1, 2, 3]", "k.toml:5: found 3 values for `init`, expected at most 2"},
      {arg + "buffer = 's32[2]'\ninit = [1, 'x']", "k.toml:5: found 'x', expected a number of type s32"},
      {arg + "buffer = 's32[2]'\ninit = [1.5]", "k.toml:5: found 1.5, expected an integer of type s32"},
      {arg + "buffer = 'u8[2]'\ninit = [256]", "k.toml:5: found 256, expected 0 to 255 (type u8)"},
      {arg + "buffer = 's32[2]'\nexpect = 'zero'", "k.toml:5: found 'zero', expected a list of values or a .npy file"},
      {arg + "buffer = 's32[2]'\ntolerance = -1", "k.toml:5: found -1, expected a number >= 0"},
      {arg + "buffer = 's32[2]'\ninit = 'none.npy'", "k.toml:5: none.npy: no such file"},
      {arg + "buffer = 's32[2]'\nvalue = 3", "k.toml:5: found key 'value', expected one of name, buffer"},
      {arg + "scalar = 's32'", "k.toml:2: found no `value`, expected a number of type s32"},
      {arg + "scalar = 's32'\nvalue = 3000000000", "k.toml:5: found 3000000000, expected -2147483648 to 2147483647"},
      {arg, "k.toml:2: found argument 'a' without a kind"},
      {arg + "address = 'm'", "k.toml:2: found 'm', expected the name of a buffer (there is none)"},
      {arg + "struct = 8\nfields = [{ at = 4, type = 'u64', value = 1 }]", "k.toml:5: found a field of 8 bytes at 4"},
      {arg + "buffer = 's32[1]'\n" + arg + "buffer = 's32[1]'", "k.toml:5: found a second buffer 'a'"},
      {"[[before]]\nlaunch = 'none.toml'", "k.toml:3: found no file none.toml, expected a launch file"},
      {"[[symbol]]\nname = 's'\ninit = 'zero'", "k.toml:4: found 'zero', expected a list of values"},
      {"[[symbol]]\nname = 's'\ninit = [1.5]", "k.toml:4: found 1.5, expected an integer"},
  };
  for (const Refusal& refusal : refusals) {
    EXPECT_THAT(error_of(refusal.text), HasSubstr(refusal.line)) << refusal.text;
    EXPECT_EQ(error_of(refusal.text).find('\n'), std::string::npos) << refusal.text;
  }
  EXPECT_THROW(parse_launch_file("grid = [1]", "k.toml"), InputError);  // no ptx
  EXPECT_THROW(parse_launch_file(std::string("\xff\xfe\0\x01", 4), "k.toml"), InputError);
}

std::string npy(const std::string& descr, const std::string& shape, const std::string& data,
                const std::string& order = "False") {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': (" + shape + "), }";
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size());
  file += '\0';
  return file + header + data;
}

std::string npy_error(const Folder& folder, const std::string& file) {
  write_file(folder / "x.npy", file);
  try {
    parse_launch_file("ptx = 'k'\n[[arg]]\nbuffer = 's32[2]'\ninit = 'x.npy'", folder / "k.toml");
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(Npy, ReadsNumbers) {
  const Folder folder;
  const std::string data("\x01\0\0\0\xff\xff\xff\xff", 8);
  write_file(folder / "x.npy", npy("<i4", "2,", data));
  const LaunchSpec spec =
      parse_launch_file("ptx = 'k'\n[[arg]]\nbuffer = 's32[2]'\ninit = 'x.npy'", folder / "k.toml");
  EXPECT_EQ(spec.buffers[0].init.elements, (std::vector<std::optional<uint64_t>>{1, 0xffffffffU}));
  EXPECT_EQ(npy_error(folder, npy("<i4", "1, 2", data)), "");
  EXPECT_EQ(npy_error(folder, npy("<i4", "1", data.substr(4))), "");
}

TEST(Npy, RefusesWhatItIsNot) {
  const Folder folder;
  const std::string data(8, '\0');
  EXPECT_THAT(npy_error(folder, ""), HasSubstr("found no .npy header"));
  EXPECT_THAT(npy_error(folder, "garbage that is long enough"), HasSubstr("found no .npy header"));
  EXPECT_THAT(npy_error(folder, std::string("\x93NUMPY\x01\x00\xff\xff{", 11)), HasSubstr("found no .npy header"));
  EXPECT_THAT(npy_error(folder, std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13)), HasSubstr("no .npy header"));
  EXPECT_THAT(npy_error(folder, npy("<f4", "2,", data)), HasSubstr("found element type '<f4'"));
  EXPECT_THAT(npy_error(folder, npy(">i4", "2,", data)), HasSubstr("found element type '>i4'"));
  EXPECT_THAT(npy_error(folder, npy("<i4", "3,", data)), HasSubstr("expected at most 2 elements"));
  EXPECT_THAT(npy_error(folder, npy("<i4", "99999999999999999999", data)), HasSubstr("expected at most 2 elements"));
  EXPECT_THAT(npy_error(folder, npy("<i4", "16777216, 16777216", data)), HasSubstr("expected at most 2 elements"));
  EXPECT_THAT(npy_error(folder, npy("<i4", "-1,", data)), HasSubstr("expected at most 2 elements"));
  EXPECT_THAT(npy_error(folder, npy("<i4", "2,", data.substr(1))), HasSubstr("found 7 bytes of data"));
  EXPECT_THAT(npy_error(folder, npy("<i4", "1, 2", data, "True")), HasSubstr("found Fortran order"));
}

}  // namespace
}  // namespace warpcheck::ptx
