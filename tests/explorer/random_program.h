// Random toy programs, written down so that they can be printed and shrunk.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/explorer/toy.h"

namespace warpcheck::toy {

// What a thread does with the result of its last operation before it takes the next instruction.
enum class Guard : uint8_t { kNone, kIfZero, kIfNotZero, kIfChoice };

struct Instruction {
  Operation op;
  Guard guard = Guard::kNone;        // skipped unless it holds
  bool adds_result = false;          // the last result is added to the operand
  bool issues = false;               // no step of the thread: `op` is done by an asynchronous operation of its own
};

struct RandomProgram {
  std::vector<ObjectState> objects;
  std::vector<std::vector<Instruction>> threads;

  ToyProgram program() const;
  std::string to_string() const;
};

enum class Flavour : uint8_t { kWords, kBytes, kWaits, kReductions, kBarriers, kTransactions, kNamed, kMixed };
constexpr unsigned kFlavours = 8;
const char* name(Flavour flavour);

RandomProgram random_program(Flavour flavour, uint64_t seed);

// All programs that lack one thread or one instruction, or have a simpler one.
std::vector<RandomProgram> smaller(const RandomProgram& program);

}  // namespace warpcheck::toy
