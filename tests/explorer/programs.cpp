#include "tests/explorer/programs.h"

namespace warpcheck::toy {

namespace {

std::optional<Operation> end() { return std::nullopt; }

// A straight line of operations.
Script line(std::vector<Operation> ops) {
  return [ops = std::move(ops)](Thread& t) { return t.pc < ops.size() ? std::optional(ops[t.pc++]) : end(); };
}

ToyProgram words(size_t count, size_t plain = 0) {
  ToyProgram program;
  program.objects.assign(count, word());
  program.plain = plain;
  return program;
}

}  // namespace

ToyProgram ainc(uint32_t n) {
  ToyProgram program = words(1);
  for (uint32_t i = 0; i < n; ++i) program.add(line({update(0, Rmw::kAdd, 1)}));
  return program;
}

ToyProgram binc(uint32_t n) {
  ToyProgram program = words(2);
  for (uint32_t i = 0; i < n; ++i) program.add(line({update(0, Rmw::kAdd, 1), update(1, Rmw::kAdd, 1)}));
  return program;
}

ToyProgram readers(uint32_t n) {
  ToyProgram program = words(1);
  program.add(line({store(0, 1)}));
  for (uint32_t i = 0; i < n; ++i) program.add(line({load(0)}));
  return program;
}

ToyProgram casrot(uint32_t n) {
  ToyProgram program = words(1);
  for (uint32_t i = 1; i <= n; ++i) program.add(line({cas(0, i - 1, i)}));
  return program;
}

ToyProgram casw(uint32_t n) {
  ToyProgram program = words(1);
  for (uint32_t i = 0; i < n; ++i) program.add(line({cas(0, 0, 1), store(0, i + 3)}));
  return program;
}

ToyProgram lastzero(uint32_t n) {
  ToyProgram program = words(n + 1);
  program.add([n](Thread& t) -> std::optional<Operation> {
    if (t.pc++ == 0) {
      t.r[0] = n;
      return load(n);
    }
    if (t.result == 0) return end();
    return load(static_cast<uint32_t>(--t.r[0]));
  });
  for (uint32_t j = 1; j <= n; ++j) {
    program.add([j](Thread& t) -> std::optional<Operation> {
      switch (t.pc++) {
        case 0: return load(j - 1);
        case 1: return store(j, t.result + 1);
        default: return end();
      }
    });
  }
  return program;
}

ToyProgram indexer(uint32_t n) {
  ToyProgram program = words(128);
  for (uint32_t thread = 0; thread < n; ++thread) {
    program.add([thread](Thread& t) -> std::optional<Operation> {  // r0 = i, r1 = h, pc: inside the search for a slot
      uint64_t w = 11 * t.r[0] + thread;
      if (t.pc == 1 && t.result == 0) {  // found a free slot
        ++t.r[0];
        t.pc = 0;
        w += 11;
      }
      if (t.r[0] == 4) return end();
      t.r[1] = t.pc == 0 ? 7 * w % 128 : (t.r[1] + 1) % 128;
      t.pc = 1;
      return cas(static_cast<uint32_t>(t.r[1]), 0, w);
    });
  }
  return program;
}

ToyProgram fib(uint32_t n) {
  ToyProgram program = words(2);
  program.objects = {word(1), word(1)};
  for (uint32_t into = 0; into < 2; ++into) {
    program.add([n, into](Thread& t) -> std::optional<Operation> {
      const uint32_t at = t.pc++;
      if (at == 3 * n) return end();
      switch (at % 3) {
        case 0: return load(0);
        case 1: t.r[0] = t.result; return load(1);
        default: return store(into, t.r[0] + t.result);
      }
    });
  }
  program.add(line({load(0), load(1)}));
  return program;
}

ToyProgram ownshared(uint32_t n) {
  ToyProgram program = words(n + 1);
  for (uint32_t i = 0; i < n; ++i) program.add(line({store(i + 1, 1), store(0, i + 1)}));
  return program;
}

ToyProgram sb(uint32_t n) {
  ToyProgram program = words(n);
  for (uint32_t i = 0; i < n; ++i) program.add(line({store(i, 1), load((i + 1) % n)}));
  return program;
}

ToyProgram ticketlock(uint32_t n) {
  ToyProgram program = words(2, 1);  // next, owner; shared
  for (uint32_t i = 0; i < n; ++i) {
    program.add([i](Thread& t) -> std::optional<Operation> {
      switch (t.pc++) {
        case 0: return update(0, Rmw::kAdd, 1);
        case 1: return await(1, equal, t.result);
        case 2:
          (*t.plain)[0] = i;
          t.check((*t.plain)[0] == i);
          return load(1);
        case 3: return store(1, t.result + 1);
        default: return end();
      }
    });
  }
  return program;
}

ToyProgram ttaslock(uint32_t n) {
  ToyProgram program = words(1, 1);
  for (uint32_t i = 0; i < n; ++i) {
    program.add([i](Thread& t) -> std::optional<Operation> {
      switch (t.pc++) {
        case 0: return await(0, equal, 0);
        case 1: return with_predicate(update(0, Rmw::kExchange, 1), equal, 0);
        case 2:
          (*t.plain)[0] = i;
          t.check((*t.plain)[0] == i);
          return store(0, 0);
        default: return end();
      }
    });
  }
  return program;
}

ToyProgram ttasloop(uint32_t n) {
  ToyProgram program = words(1, 1);
  for (uint32_t i = 0; i < n; ++i) {
    program.add([i](Thread& t) -> std::optional<Operation> {
      if (t.pc == 2 && t.result != 0) t.pc = 0;
      switch (t.pc++) {
        case 0: return await(0, equal, 0);
        case 1: return update(0, Rmw::kExchange, 1);
        case 2:
          (*t.plain)[0] = i;
          t.check((*t.plain)[0] == i);
          return store(0, 0);
        default: return end();
      }
    });
  }
  return program;
}

ToyProgram barrier(uint32_t n) {
  ToyProgram program = words(2, n);  // cnt, flag; own
  for (uint32_t i = 0; i < n; ++i) {
    program.add([i, n](Thread& t) -> std::optional<Operation> {
      switch (t.pc++) {
        case 0:
          (*t.plain)[i] = 1;
          return update(0, Rmw::kAdd, 1);
        case 1: return t.result == n - 1 ? store(1, 1) : await(1, equal, 1);
        default:
          t.check((*t.plain)[(i + 1) % n] == 1);
          return end();
      }
    });
  }
  return program;
}

// full[s] is object s, empty[s] object stages + s. The producer issues a copy for each slot, which completes by itself.
ToyProgram ring(uint32_t consumers, uint32_t stages, uint32_t iterations, bool parity) {
  ToyProgram program;
  program.objects.assign(stages, mbarrier(1));
  program.objects.insert(program.objects.end(), stages, mbarrier(static_cast<int32_t>(consumers)));
  const auto wait = [parity](uint32_t object, uint32_t phase) {
    return parity ? wait_parity(object, phase & 1) : wait_phase(object, phase);
  };
  program.add([=](Thread& t) -> std::optional<Operation> {
    const uint32_t k = static_cast<uint32_t>(t.r[0]), stage = k % stages, lap = k / stages;
    if (k == iterations) return end();
    if (t.pc == 0) {
      t.pc = 1;
      if (lap > 0) return wait(stages + stage, lap - 1);
    }
    t.pc = 0;
    ++t.r[0];
    t.children.push_back({complete_tx(stage, 16)});
    return arrive(stage, 1, 16);
  });
  for (uint32_t c = 0; c < consumers; ++c) {
    program.add([=](Thread& t) -> std::optional<Operation> {
      const uint32_t k = t.pc / 2, stage = k % stages, lap = k / stages;
      if (k == iterations) return end();
      return t.pc++ % 2 == 0 ? wait(stage, lap) : arrive(stages + stage);
    });
  }
  return program;
}

ToyProgram two_completions() {
  ToyProgram program;
  program.objects = {mbarrier(1)};
  program.add(line({arrive(0)}));
  program.add(line({arrive(0)}));
  return program;
}

}  // namespace warpcheck::toy
