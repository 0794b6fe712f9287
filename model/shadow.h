// Shadow memory: for each byte interval of a region, the accesses that later ones are checked against.
//
// A segment is an interval whose bytes all have the same records; accesses split segments at their ends, so that a tile
// copied whole is one segment until someone looks at a part of it. A record is forgotten when a later access of at least
// its strength (a write; a read for a read; weak, or strong on the same bytes at the same scope) by a generic access is
// ordered after it in both readings: whoever is ordered after that access is ordered after the record. That does not
// follow for accesses of asynchronous operations, whose completion hands on their own component only.
// Not thread-safe: owned by one machine.
#pragma once

#include <cstdint>

#include "model/gpu_machine.h"
#include "model/journal.h"

namespace warpcheck {

enum class AccessMode : uint8_t {
  kRead,
  kWrite,
  kInit,  // mbarrier.init and inval: writes the object's bytes
  kUse,   // every other operation on an mbarrier: uses do not race with each other
};

struct AccessRecord {
  uint32_t component = 0, tick = 0;  // component of the warp's lane 0, or of the operation
  LaneMask lanes = 1;                // which lanes made it, at the same tick
  AccessMode mode = AccessMode::kRead;
  bool async = false;        // through the async proxy
  bool strong = false;
  bool collective = false;   // of an instruction that a warp runs as one
  bool map = false;          // of a tensor map, through its proxy
  uint32_t load = 0;         // followed: whether its value takes effect decides
  uint8_t element = 0;       // strong by elements of this size; 0: as a whole
  Rmw reduces = Rmw::kNone;  // a reduction without a result
  bool unchanged = false;    // a store that left every byte as it was
  Scope scope = Scope::kBlock;
  uint32_t block = 0;
  uint64_t begin = 0, end = 0;  // the whole access, of which the segment may be a part
  AgentId agent = kNoAgent;
  SiteId site = kNoSite;
  uint32_t snapshot = 0;     // of the control clock
  uint32_t issuer = 0, issue_tick = 0;  // asynchronous operations: component and tick of the issue
  uint32_t issuer_thread = 0;
  bool operation = false;    // of an asynchronous operation (generic for cp.async)
  TensorKind tensor = TensorKind::kNone;  // an operation of the tensor core; its tick is its place in a queue
  uint64_t accumulator = 0;  // TensorOp
  uint32_t tensor_blocks = 1;
  bool address_word = false; // stored by an allocation of tensor memory
  uint32_t step = 0;         // visible steps taken before it
  uint32_t event = 0;        // recorded event, while recording
};

constexpr bool writes(AccessMode mode) { return mode == AccessMode::kWrite || mode == AccessMode::kInit; }

// Lanes of one instruction that access the same bytes alike share a record.
constexpr bool same_instruction(const AccessRecord& a, const AccessRecord& b) {
  return a.component == b.component && a.tick == b.tick && a.mode == b.mode && a.async == b.async &&
         a.begin == b.begin && a.end == b.end && a.unchanged == b.unchanged && a.snapshot == b.snapshot;
}

// The shadow of one region.
class Shadow {
 public:
  explicit Shadow(Journal& journal) : journal_(&journal), segments_(journal), nodes_(journal) {}
  void reset();  // the journal has started anew

  // Calls visit(record) for each record on the bytes of `access`, which returns the lanes that stay recorded (those of an
  // operation: all or none), then adds `access` to all its bytes.
  template <class Visit>
  void add(const AccessRecord& access, Visit&& visit);

 private:
  static constexpr uint32_t kNone = 0xffffffffU;
  struct Segment {
    uint64_t begin = 0, end = 0;
    uint32_t first = kNone;  // of a list in nodes_
  };
  struct Node {
    AccessRecord record;
    uint32_t next = kNone;
  };

  size_t lower(uint64_t offset) const;       // first segment that ends after offset
  size_t split_before(uint64_t offset);      // index of the first segment that begins at or after offset
  uint32_t allocate(const AccessRecord& record, uint32_t next);
  uint32_t copy_list(uint32_t first);

  void set_first(size_t segment, uint32_t node) {
    if (segments_[segment].first != node) segments_.edit(segment).first = node;
  }
  void set_free(uint32_t node) {
    journal_->save(free_);
    free_ = node;
  }

  Journal* journal_;
  JournaledVector<Segment> segments_;  // sorted, disjoint
  JournaledVector<Node> nodes_;
  uint32_t free_ = kNone;
};

template <class Visit>
void Shadow::add(const AccessRecord& access, Visit&& visit) {
  size_t i = split_before(access.begin);
  size_t end = split_before(access.end);
  for (uint64_t at = access.begin; at < access.end; ++i) {
    if (i == end || segments_[i].begin > at) {  // a gap without records
      segments_.insert(i, Segment{at, i == end ? access.end : segments_[i].begin, kNone});
      ++end;
    }
    uint32_t previous = kNone;
    for (uint32_t node = segments_[i].first; node != kNone;) {
      const uint32_t next = nodes_[node].next;
      const LaneMask stay = visit(nodes_[node].record);
      if (stay != 0) {
        if (stay != nodes_[node].record.lanes) nodes_.edit(node).record.lanes = stay;
        previous = node;
      } else {
        if (previous == kNone) {
          set_first(i, next);
        } else {
          nodes_.edit(previous).next = next;
        }
        nodes_.edit(node).next = free_;
        set_free(node);
      }
      node = next;
    }
    const uint32_t first = segments_[i].first;
    if (first != kNone && same_instruction(nodes_[first].record, access)) {
      nodes_.edit(first).record.lanes |= access.lanes;
    } else {
      set_first(i, allocate(access, first));
    }
    at = segments_[i].end;
  }
}

}  // namespace warpcheck
