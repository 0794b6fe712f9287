// What a kernel's code names memory and barriers by: small values that a lambda captures by copy. Kernel makes them
// (kernel.h), Thread takes them (thread.h). A handle of shared memory means the block of the thread that uses it, or
// with `of(rank)` another block of its cluster.
//
// Indices are not checked here: an access outside its variable is a finding, like everything else a kernel does wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace warpcheck {

// A place in memory. Shared memory is one region a block, global memory one a variable.
struct Place {
  static constexpr uint32_t kOwnBlock = 0xffffffffU;

  bool shared = false;
  uint32_t region = 0;        // global: number of the variable
  uint32_t rank = kOwnBlock;  // shared: the block's rank in its cluster
  uint64_t offset = 0;        // bytes

  Place at(uint64_t bytes) const {
    Place place = *this;
    place.offset += bytes;
    return place;
  }
  Place of(uint32_t block_rank) const {
    Place place = *this;
    place.rank = block_rank;
    return place;
  }
};

// A piece of memory that a copy reads or writes: rows of equal length, `pitch` bytes apart.
struct Slice {
  Place place;
  uint32_t row_bytes = 0;
  uint32_t rows = 1;
  uint64_t pitch = 0;

  uint64_t bytes() const { return uint64_t{row_bytes} * rows; }
  Slice of(uint32_t block_rank) const {
    Slice slice = *this;
    slice.place = place.of(block_rank);
    return slice;
  }
};

// One value in memory, for plain accesses.
template <class T>
struct Element {
  static_assert(std::is_trivially_copyable_v<T>);
  Place place;

  Element of(uint32_t block_rank) const { return {place.of(block_rank)}; }
  operator Slice() const { return {place, sizeof(T)}; }
};

// One value in memory, for atomic accesses.
template <class T>
struct Atomic {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8);
  Place place;

  Atomic of(uint32_t block_rank) const { return {place.of(block_rank)}; }
};

// Atomic access to a value that is also accessed plainly.
template <class T>
Atomic<T> atomic(Element<T> element) {
  return {element.place};
}
template <class T>
Element<T> plain(Atomic<T> word) {
  return {word.place};
}

// Values in a row.
template <class T>
class Array {
 public:
  Array() = default;
  Array(Place place, size_t size) : place_(place), size_(size) {}

  size_t size() const { return size_; }
  Place place() const { return place_; }
  Element<T> operator[](size_t i) const { return {place_.at(i * sizeof(T))}; }
  Array of(uint32_t block_rank) const { return {place_.of(block_rank), size_}; }

  operator Slice() const { return slice(0, size_); }
  Slice slice(size_t begin, size_t count) const {
    return {place_.at(begin * sizeof(T)), static_cast<uint32_t>(count * sizeof(T))};
  }
  // The box of `rows` x `columns` at (row, column) of a row-major tile `width` elements wide.
  Slice box(size_t row, size_t rows, size_t column, size_t columns, size_t width) const {
    return {place_.at((row * width + column) * sizeof(T)), static_cast<uint32_t>(columns * sizeof(T)),
            static_cast<uint32_t>(rows), width * sizeof(T)};
  }

 private:
  Place place_;
  size_t size_ = 0;
};

template <class T>
class Atomics {
 public:
  Atomics() = default;
  Atomics(Place place, size_t size) : place_(place), size_(size) {}

  size_t size() const { return size_; }
  Place place() const { return place_; }
  Atomic<T> operator[](size_t i) const { return {place_.at(i * kStride)}; }
  Atomics of(uint32_t block_rank) const { return {place_.of(block_rank), size_}; }

  static constexpr size_t kStride = sizeof(T);

 private:
  Place place_;
  size_t size_ = 0;
};

struct Mbarrier {
  Place place;

  Mbarrier of(uint32_t block_rank) const { return {place.of(block_rank)}; }
};

class Mbarriers {
 public:
  static constexpr size_t kBytes = 8;

  Mbarriers() = default;
  Mbarriers(Place place, size_t size) : place_(place), size_(size) {}

  size_t size() const { return size_; }
  Mbarrier operator[](size_t i) const { return {place_.at(i * kBytes)}; }
  Mbarriers of(uint32_t block_rank) const { return {place_.of(block_rank), size_}; }

 private:
  Place place_;
  size_t size_ = 0;
};

}  // namespace warpcheck
