#include "frontends/ptx/parser.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "kernel.h"
#include "model/machine.h"

namespace warpcheck::ptx {
namespace {

const std::string kHead = ".version 9.0\n.target sm_90a\n.address_size 64\n";

std::string error_of(const std::string& text) {
  try {
    parse(text, "k.ptx");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

std::string in_body(const std::string& body) { return kHead + ".entry k()\n{\n" + body + "\n}\n"; }

Function body_of(const std::string& body, Module& module) {
  module = parse(in_body(".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<9>;\n" + body), "k.ptx");
  return module.functions.at(0);
}

TEST(Parser, ReadsEveryKernelOfTheData) {
  size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(PTX_DATA)) {
    if (file.path().extension() != ".ptx") continue;
    ++files;
    const Module module = parse_file(file.path().string());
    EXPECT_FALSE(module.functions.empty()) << file.path();
  }
  EXPECT_GT(files, 30U);
}

TEST(Parser, KeepsThePartsOfAnOpcode) {
  Module module;
  const Function f = body_of("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3];", module);
  EXPECT_EQ(opcode_text(f.instructions[0]), "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes");
  EXPECT_EQ(f.instructions[0].opcode[3], "shared::cluster");
  EXPECT_EQ(f.instructions[0].operands.size(), 4U);
}

TEST(Parser, ReadsOperandsByShape) {
  Module module;
  const Function f = body_of("x %r1|%p1, {%r1, %r2}, [%rd1+-8], [ %rd1 + 0 ], _, 0x7701U, 0f3F800000, !%p2, %tid.x, -4, a+4;", module);
  const auto& o = f.instructions[0].operands;
  ASSERT_EQ(o.size(), 11U);
  EXPECT_EQ(o[0].kind, OperandKind::kPair);
  EXPECT_EQ(o[1].kind, OperandKind::kVector);
  EXPECT_EQ(o[2].parts[0].offset, -8);
  EXPECT_EQ(o[3].kind, OperandKind::kAddress);
  EXPECT_EQ(o[4].kind, OperandKind::kSink);
  EXPECT_EQ(o[5].value, 0x7701U);
  EXPECT_EQ(o[6].value, 0x3f800000U);
  EXPECT_EQ(o[6].float_bytes, 4);
  EXPECT_TRUE(o[7].negated);
  EXPECT_EQ(o[8].name, "%tid.x");
  EXPECT_EQ(o[9].value, ~uint64_t{3});
  EXPECT_EQ(o[10].offset, 4);
}

TEST(Parser, ScopesRegistersAndLabels) {
  Module module;
  const Function f = body_of("{ .reg .pred p; L: @p bra L; } { .reg .pred p; L: @!p bra.uni L; bra OUT; }\nOUT: ret;", module);
  ASSERT_EQ(f.instructions.size(), 4U);
  EXPECT_NE(f.instructions[0].predicate, f.instructions[1].predicate);
  EXPECT_EQ(f.instructions[0].operands[0].target, 0U);
  EXPECT_EQ(f.instructions[1].operands[0].target, 1U);
  EXPECT_EQ(f.instructions[2].operands[0].target, 3U);
}

TEST(Parser, FollowsInlinedCalls) {
  const Module module = parse(in_body(".loc 1 10 3\n.loc 2 20 5, function_name $s, inlined_at 1 10 3\n"
                                      ".loc 3 30 7, function_name $s, inlined_at 2 20 5\nret;") +
                                  ".file 1 \"a.cu\"\n.file 2 \"b.h\"\n.file 3 \"c.h\"\n",
                              "k.ptx");
  const Site site = site_of(module, module.functions[0].instructions[0]);
  EXPECT_EQ(site.at, (SourceLine{"c.h", 30}));
  ASSERT_EQ(site.inlined_at.size(), 2U);
  EXPECT_EQ(site.inlined_at[0], (SourceLine{"b.h", 20}));
  EXPECT_EQ(site.inlined_at[1], (SourceLine{"a.cu", 10}));
}

TEST(Parser, NamesThePtxWhereThereIsNoLine) {
  const Module module = parse(in_body("ret;"), "k.ptx");
  EXPECT_EQ(site_of(module, module.functions[0].instructions[0]).at, (SourceLine{"k.ptx", 6}));
}

TEST(Parser, ReadsVariablesAndBounds) {
  const Module module = parse(kHead +
                                  ".global .align 4 .b8 text[4] = {104, 105, 0};\n.const .u64 at = generic(text)+2;\n"
                                  ".extern .shared .align 1024 .b8 smem[];\n"
                                  ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 .ptr .global .align 16 p)\n"
                                  ".reqntid 64, 1, 1\n.maxntid 128\n.explicitcluster\n.reqnctapercluster 2\n{ .shared .u64 full; ret; }\n",
                              "k.ptx");
  ASSERT_EQ(module.variables.size(), 3U);
  EXPECT_EQ(module.variables[0].bytes, 4U);
  EXPECT_EQ(module.variables[0].initial.size(), 3U);
  EXPECT_EQ(module.variables[1].addresses.at(0).addend, 2);
  EXPECT_TRUE(module.variables[2].unsized);
  const Function& f = module.functions.at(0);
  EXPECT_EQ(f.params[0].bytes, 128U);
  EXPECT_EQ(f.required_block.value()[0], 64U);
  EXPECT_EQ(f.cluster.value()[0], 2U);
  EXPECT_EQ(f.variables.at(0).bytes, 8U);
}

TEST(Parser, EndsAtANulByte) {
  const std::string text = in_body("ret;") + std::string(1, '\0') + "garbage \x01";
  EXPECT_EQ(parse(text, "k.ptx").functions.size(), 1U);
}

TEST(Parser, SkipsDebugSections) {
  const Module module = parse(in_body("ret;") + ".section .debug_info { .b32 5, 6 .b64 .debug_abbrev .b8 1 { } }\n"
                                                ".section .debug_str\n{\n$s0:\n.b8 104,105,0\n}\n",
                              "k.ptx");
  EXPECT_EQ(module.strings.at("$s0"), "hi");
}

TEST(Parser, LoadsEightThousandInstructions) {
  std::string body = ".reg .b32 %r<9000>;\n";
  for (int i = 0; i < 8000; ++i) body += "\tadd.s32 \t%r" + std::to_string(i + 1) + ", %r" + std::to_string(i) + ", 1;\n";
  const std::string text = in_body(body);
  EXPECT_EQ(parse(text, "k.ptx").functions[0].instructions.size(), 8000U);
}

struct Malformed {
  const char* name;
  std::string text;
  const char* error;
};

class MalformedPtx : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedPtx, IsOneClearLine) {
  const std::string error = error_of(GetParam().text);
  EXPECT_EQ(error, GetParam().error);
  EXPECT_EQ(error.find('\n'), std::string::npos);
}

std::string repeated(const std::string& text, int times) {
  std::string made;
  for (int i = 0; i < times; ++i) made += text;
  return made;
}

const Malformed kMalformed[] = {
    {"Empty", "", "k.ptx:1: found the end of the file, expected .version"},
    {"Prose", "hello", "k.ptx:1: found hello, expected .version"},
    {"VersionWithoutNumber", ".version sm_90", "k.ptx:1: found sm_90, expected a version such as 9.0"},
    {"VersionWhole", ".version 9", "k.ptx:1: found 9, expected a version such as 9.0"},
    {"NoTarget", ".version 9.0\n.address_size 64\n", "k.ptx:3: found the end of the file, expected .target"},
    {"AddressSize", ".version 9.0\n.target sm_80\n.address_size 48\n", "k.ptx:3: found 48, expected 32 or 64"},
    {"StrayWord", kHead + "mov", "k.ptx:4: found mov, expected a directive"},
    {"UnknownDirective", kHead + ".banana 4;", "k.ptx:4: found .banana, expected a directive or declaration"},
    {"ByteOutsideAscii", kHead + "\x80", "k.ptx:4: found byte 0x80, expected PTX"},
    {"CommentWithoutEnd", kHead + "/* no", "k.ptx:4: found /* without end, expected */"},
    {"StringWithoutEnd", kHead + ".file 1 \"abc\n", "k.ptx:4: found a string without end, expected \""},
    {"EntryWithoutName", kHead + ".entry (", "k.ptx:4: found (, expected the name of the function"},
    {"EntryWithoutBody", kHead + ".entry k() mov", "k.ptx:4: found mov, expected { or ;"},
    {"ParameterWithoutType", kHead + ".entry k(.param x)", "k.ptx:4: found x, expected a type"},
    {"ParameterOfNoSpace", kHead + ".entry k(.global .u32 x)", "k.ptx:4: found .global, expected .param"},
    {"ParametersWithoutEnd", kHead + ".entry k(.param .u32 x;", "k.ptx:4: found ;, expected ) or ,"},
    {"ManyBlockSizes", kHead + ".entry k() .reqntid 1, 1, 1, 1 { ret; }", "k.ptx:4: found 1, expected at most three numbers"},
    {"BodyWithoutEnd", kHead + ".entry k()\n{\nret;\n", "k.ptx:7: found the end of the file, expected } for the { of line 6"},
    {"NoSemicolon", in_body("ret"), "k.ptx:7: found }, expected an operand"},
    {"OperandsRunTogether", in_body(".reg .b32 a; mov.b32 a 1;"), "k.ptx:6: found 1, expected ; or ,"},
    {"MissingOperand", in_body(".reg .b32 a; mov.b32 a, ;"), "k.ptx:6: found ;, expected an operand"},
    {"PredicateUndeclared", in_body("@%p1 ret;"), "k.ptx:6: found %p1, expected a predicate register"},
    {"LabelUnknown", in_body("ret;\nbra NOWHERE;"), "k.ptx:7: found NOWHERE, expected a label of this function"},
    {"LabelOfInnerScope", in_body("bra L; { L: ret; }"), "k.ptx:6: found L, expected a label of this function"},
    {"LabelTwice", in_body("L: ret;\nL: ret;"), "k.ptx:7: found L, expected a label that this scope does not have yet"},
    {"RegisterType", in_body(".reg .banana a;"), "k.ptx:6: found .banana, expected a register type"},
    {"RegisterRange", in_body(".reg .b32 %r<x>;"), "k.ptx:6: found x, expected a number of registers"},
    {"AddressWithoutEnd", in_body("ld.u32 a, [b;"), "k.ptx:6: found ;, expected ]"},
    {"AddressEmpty", in_body("ld.u32 a, [];"), "k.ptx:6: found ;, expected an address"},
    {"VectorWithoutEnd", in_body("mov.b64 {a, b;"), "k.ptx:6: found ;, expected }"},
    {"NumberWithLetters", in_body("mov.b32 a, 12q;"), "k.ptx:6: found 12q, expected a number"},
    {"NumberTooLarge", in_body("mov.b64 a, 99999999999999999999;"), "k.ptx:6: found 99999999999999999999, expected a number"},
    {"AlignmentOfThree", in_body(".shared .align 3 .b8 a[4];"), "k.ptx:6: found 3, expected a power of two as alignment"},
    {"ArrayTooLarge", in_body(".shared .b8 a[99999999][99999];"), "k.ptx:6: found 99999, expected an array below 4 GiB"},
    {"InitializerTooLong", kHead + ".global .b8 a[2] = {1, 2, 3};", "k.ptx:4: found ;, expected an initializer of 2 bytes"},
    {"LocWithoutLine", in_body(".loc 1\nret;"), "k.ptx:7: found ret, expected a line number"},
    {"PragmaWithoutString", in_body(".pragma nounroll;"), "k.ptx:6: found ;, expected a string"},
    {"SectionWithoutEnd", kHead + ".section .debug_info {\n.b8 1", "k.ptx:5: found the end of the file, expected } for line 5"},
    {"DeepScopes", in_body(repeated("{", 100000)), "k.ptx:6: found {, expected at most 256 nested scopes"},
    {"DeepOperands", in_body("x " + repeated("{", 100000)), "k.ptx:6: found {, expected fewer than 16 nested operands"},
    {"DeepInitializer", kHead + ".global .b8 a[2] = " + repeated("{", 100000), "k.ptx:4: found {, expected fewer than 32 nested braces"},
    {"ManyNots", in_body("x " + repeated("!", 100000)), "k.ptx:6: found !, expected fewer than 16 nested operands"},
};

INSTANTIATE_TEST_SUITE_P(Parser, MalformedPtx, ::testing::ValuesIn(kMalformed), [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace warpcheck::ptx
