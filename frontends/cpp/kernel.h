// A kernel written in C++: its launch (blocks, clusters, threads), its memory and barriers, and the code of its
// threads.
//
//   Kernel k("ring");
//   auto in = k.global<int>("in", 128, iota), out = k.global<int>("out", 1);
//   auto tile = k.shared<int>("tile", 128);
//   auto full = k.mbarrier("full", 1);
//   k.threads(1, [=](Thread& t) {
//     t.copy_async(tile, in, full);
//     t.wait(full);
//     t.store(out[0], t.load(tile[3]));
//   });
//   k.expect(out, {3});
//
// Thread code is called from several OS threads at once, once per execution and thread: it must be const and keep its
// state in locals. Declare first, then explore: a kernel that has made a machine does not change any more.
#pragma once

#include <concepts>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "frontends/cpp/handles.h"
#include "frontends/cpp/thread.h"
#include "model/machine.h"

namespace warpcheck {

struct Launch;  // launch.h

struct Grid {
  uint32_t blocks = 1;
  uint32_t cluster = 1;  // blocks a cluster; divides `blocks`
};

// Contents of memory by index.
inline constexpr auto iota = [](size_t i) { return i; };
inline constexpr auto zeros = [](size_t) { return 0; };

class Kernel final : public Program {
 public:
  using Body = std::function<void(Thread&)>;

  explicit Kernel(std::string name, Grid grid = {});
  Kernel(Kernel&&) noexcept;
  ~Kernel() override;

  // --- memory: uninitialized, or with contents. Shared memory exists once a block.
  template <class T>
  Array<T> global(std::string name, size_t size) {
    return {place(Space::kGlobal, std::move(name), size * sizeof(T), sizeof(T), {}), size};
  }
  template <class T>
  Array<T> global(std::string name, std::initializer_list<T> values) {
    return {place(Space::kGlobal, std::move(name), values.size() * sizeof(T), sizeof(T), bytes<T>(values)),
            values.size()};
  }
  template <class T, std::invocable<size_t> F>
  Array<T> global(std::string name, size_t size, F value) {
    return {place(Space::kGlobal, std::move(name), size * sizeof(T), sizeof(T), bytes<T>(tabulate<T>(size, value))),
            size};
  }
  template <class T>
  Array<T> shared(std::string name, size_t size) {
    return {place(Space::kShared, std::move(name), size * sizeof(T), sizeof(T), {}), size};
  }
  template <class T>
  Atomic<T> global_atomic(std::string name, T value) {
    return {place(Space::kGlobal, std::move(name), sizeof(T), sizeof(T), bytes<T>(std::vector<T>{value}))};
  }
  template <class T>
  Atomic<T> shared_atomic(std::string name, T value) {
    return {place(Space::kShared, std::move(name), sizeof(T), sizeof(T), bytes<T>(std::vector<T>{value}))};
  }
  template <class T, std::invocable<size_t> F>
  Atomics<T> global_atomics(std::string name, size_t size, F value) {
    return {place(Space::kGlobal, std::move(name), size * sizeof(T), sizeof(T), bytes<T>(tabulate<T>(size, value))),
            size};
  }
  template <class T, std::invocable<size_t> F>
  Atomics<T> shared_atomics(std::string name, size_t size, F value) {
    return {place(Space::kShared, std::move(name), size * sizeof(T), sizeof(T), bytes<T>(tabulate<T>(size, value))),
            size};
  }

  // --- mbarriers in shared memory, live from the start
  Mbarrier mbarrier(std::string name, uint32_t arrivals);
  Mbarriers mbarriers(std::string name, size_t count, uint32_t arrivals);
  Mbarrier mbarrier_storage(std::string name);  // not live: a thread must init it

  // --- threads, in each block: a role of `count` threads more. The unit is what one piece of code schedules; warps and
  // warpgroups differ from threads in name, and warpgroups may fork.
  void threads(uint32_t count, Body body);
  void warps(uint32_t count, Body body);
  void warpgroups(uint32_t count, Body body);

  // --- what must hold at the end of a complete execution (else `wrong-result`)
  template <class T>
  void expect(const Array<T>& array, std::initializer_list<std::type_identity_t<T>> values) {
    expect_bytes(array.place(), bytes<T>(values), sizeof(T));
  }
  template <class T>
  void expect(const Atomic<T>& word, std::type_identity_t<T> value) {
    expect_bytes(word.place, bytes<T>(std::vector<T>{value}), sizeof(T));
  }

  // --- settings
  void report_uninitialized(bool on);     // reads of uninitialized memory are findings (off)
  void plain_steps(bool on);              // plain accesses are steps of the search (off; tiny kernels only)
  void detect_spins(bool on);             // loops that only poll wait instead (on; fiber.h says what that cannot see)
  void global_proxy_is_generic(bool on);  // as in Pallas, which cannot fence global memory (off)

  // --- Program
  std::unique_ptr<Machine> make_machine() const override;
  uint32_t parts() const override;
  std::string name() const override;
  Site site(SiteId id) const override;
  std::vector<std::string> assumptions() const override;

 private:
  using Bytes = std::vector<uint8_t>;

  template <class T, class Values>
  static Bytes bytes(const Values& values) {
    Bytes result(values.size() * sizeof(T));
    size_t at = 0;
    for (const T value : values) {
      std::memcpy(result.data() + at, &value, sizeof(T));
      at += sizeof(T);
    }
    return result;
  }
  template <class T, class F>
  static std::vector<T> tabulate(size_t size, F value) {
    std::vector<T> values;
    values.reserve(size);
    for (size_t i = 0; i < size; ++i) values.push_back(static_cast<T>(value(i)));
    return values;
  }

  Place place(Space space, std::string name, size_t size, uint32_t element_bytes, Bytes initial);
  void add_role(uint32_t count, Body body, const char* unit, uint32_t lanes);
  void expect_bytes(const Place& place, Bytes values, uint32_t element_bytes);

  std::unique_ptr<Launch> launch_;
};

}  // namespace warpcheck
