// How a machine goes back: what a step overwrites is saved, and written back in reverse order.
//
// All that a run may change lies in memory that does not move while the run lasts, and is saved before it changes:
//  - a plain struct: `journal.touch(x)` before the first change in a step. The struct has a member `uint64_t saved = 0`
//    and is trivially copyable. Accessors that hand out a mutable reference do this.
//  - one number or a piece of memory: `journal.save(x)`.
//  - a list: JournaledVector, which saves for itself. Its memory comes from the journal and is never freed in a run.
//  - what cannot be saved, and changes seldom: `journal.forget()` after it. Earlier states are then out of reach, and the
//    search runs them again.
// Elements of std::deque and of vectors that keep their size may be saved; what a std::vector grows by must be cut off by
// hand (GpuMachine::Impl::rewind). Tests compare every byte of the state before a step and after it was undone
// (GpuMachine::state_image): they find state that was forgotten here, if it is part of the image.
//
// Not thread-safe: owned by one machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/check.h"

namespace warpcheck {

class Journal {
 public:
  // Beyond this the older half is forgotten: a long execution must neither fill the memory nor wait for it.
  static constexpr size_t kMaxBytes = size_t{1} << 20;

  // A run begins. Memory allocated before is free again. Without `on` nothing is saved.
  void start(bool on);

  void mark();                // before each step
  bool rewind(size_t steps);  // to the state after so many steps; false if it was forgotten
  void forget();
  void stop() {  // until the next start
    forget();
    on_ = false;
  }

  // Different in each step, also of steps taken after going back.
  uint64_t stamp() const { return stamp_; }

  void save(void* at, size_t bytes) {
    if (!on_) return;
    const size_t padded = (bytes + 7) & ~size_t{7};
    if (used_ + padded + sizeof(Entry) > capacity_) grow(padded + sizeof(Entry));
    std::memcpy(&trail_[used_], at, bytes);
    const Entry entry{at, bytes};
    std::memcpy(&trail_[used_ + padded], &entry, sizeof entry);
    used_ += padded + sizeof entry;
  }
  template <class T>
  void save(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    save(&value, sizeof value);
  }
  // Saves the struct unless this step has done so already.
  template <class T>
  T& touch(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (value.saved != stamp_) {
      save(&value, sizeof value);
      value.saved = stamp_;
    }
    return value;
  }

  // Memory that lasts until the run ends or goes back behind this point; not initialized.
  void* allocate(size_t bytes);

  // Calls visit(bytes) for the memory handed out, piece by piece.
  template <class Visit>
  void for_memory(Visit&& visit) const {
    for (size_t i = 0; i <= at_.block && i < blocks_.size(); ++i) {
      visit(std::span<const uint8_t>(blocks_[i].bytes.get(), i == at_.block ? at_.offset : blocks_[i].used));
    }
  }

 private:
  struct Entry {
    void* at;
    size_t bytes;
  };
  struct Block {
    std::unique_ptr<uint8_t[]> bytes;
    size_t size = 0, used = 0;
  };
  struct Position {
    size_t block = 0, offset = 0;
  };
  struct Mark {
    size_t trail;
    Position memory;
  };

  void grow(size_t bytes);
  void forget_half();

  bool on_ = false;
  uint64_t stamp_ = 1;
  size_t base_ = 0;  // steps before the first mark
  std::vector<Mark> marks_;
  std::unique_ptr<uint8_t[]> trail_;
  size_t used_ = 0, capacity_ = 0;
  std::vector<Block> blocks_;
  Position at_;
};

// A list of plain structs that a run may change. Elements are read freely, and changed through `edit`. It saves for itself,
// so that a struct need not be touched for its lists' sake.
template <class T>
class JournaledVector {
 public:
  JournaledVector() = default;
  explicit JournaledVector(Journal& journal) : journal_(&journal) {}
  JournaledVector(const JournaledVector&) = delete;  // two lists on one array
  JournaledVector& operator=(const JournaledVector&) = delete;
  JournaledVector(JournaledVector&&) = default;
  JournaledVector& operator=(JournaledVector&&) = default;

  void forget() {  // when the journal starts anew: its memory is gone
    data_ = nullptr;
    size_ = capacity_ = 0;
    saved_ = 0;
  }

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  const T& operator[](size_t i) const { return data_[i]; }
  const T& front() const { return data_[0]; }
  const T& back() const { return data_[size_ - 1]; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

  T& edit(size_t i) {
    journal_->save(&data_[i], sizeof(T));
    return data_[i];
  }
  T& edit_back() { return edit(size_ - 1); }
  T& held(size_t i) { return data_[i]; }  // of elements that save for themselves
  Journal& journal() { return *journal_; }

  void push_back(const T& value) { std::memcpy(static_cast<void*>(slot()), &value, sizeof(T)); }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    return *new (slot()) T{std::forward<Args>(args)...};
  }
  void pop_back() {
    change();
    --size_;
  }
  void clear() {
    if (size_ == 0) return;
    change();
    size_ = 0;
  }
  void resize(size_t size, const T& fill = {}) {
    while (size_ < size) push_back(fill);
    if (size_ == size) return;
    change();
    size_ = static_cast<uint32_t>(size);
  }
  void assign(const JournaledVector& other) {
    clear();
    append(other);
  }
  void append(const JournaledVector& other) {
    for (size_t i = 0; i < other.size(); ++i) push_back(other[i]);
  }
  void insert(size_t at, const T& value) {
    const T copy = value;
    push_back(copy);
    if (at + 1 == size_) return;
    journal_->save(&data_[at], (size_ - 1 - at) * sizeof(T));
    std::memmove(static_cast<void*>(&data_[at + 1]), &data_[at], (size_ - 1 - at) * sizeof(T));
    data_[at] = copy;
  }
  template <class Test>
  void erase_if(Test&& test) {
    size_t kept = 0;
    for (size_t i = 0; i < size_; ++i) {
      if (test(std::as_const(data_[i]))) continue;
      if (kept != i) std::memcpy(static_cast<void*>(&edit(kept)), &data_[i], sizeof(T));
      ++kept;
    }
    if (kept == size_) return;
    change();
    size_ = static_cast<uint32_t>(kept);
  }
  template <class Order>
  void sort(Order&& order) {
    if (size_ < 2) return;
    journal_->save(data_, size_ * sizeof(T));
    std::sort(data_, data_ + size_, order);
  }

 private:
  void change() {
    if (saved_ == journal_->stamp()) return;
    journal_->save(this, sizeof *this);
    saved_ = journal_->stamp();
  }
  T* slot() {  // behind the last element
    static_assert(std::is_trivially_copyable_v<T>);
    change();
    if (size_ == capacity_) {
      const uint32_t capacity = capacity_ == 0 ? 4 : 2 * capacity_;
      T* wider = static_cast<T*>(journal_->allocate(capacity * sizeof(T)));
      if (size_ != 0) std::memcpy(static_cast<void*>(wider), data_, size_ * sizeof(T));
      data_ = wider;
      capacity_ = capacity;
    } else {
      journal_->save(&data_[size_], sizeof(T));
    }
    return &data_[size_++];
  }

  Journal* journal_ = nullptr;
  T* data_ = nullptr;
  uint32_t size_ = 0, capacity_ = 0;
  uint64_t saved_ = 0;
};

}  // namespace warpcheck
