// mma.sync: a product of matrices that a warp holds in registers.
//
// PTX ISA, "matrix fragments for mma": with elements of e bits a 32-bit register holds p = 32/e of them (64-bit: one f64),
// lane l has group g = l/4 and t = l%4. A register r of A holds row g, or g + 8 for odd r where there are 16 rows, columns
// t*p + i + 4*p*k with k the number of the register pair; of B column g and rows likewise; an accumulator j lies in row
// g + 8*(j/2), column 2t + j%2. Sums are taken in double and rounded once; hardware rounds in between, in no documented way.
#include <algorithm>
#include <bit>
#include <cmath>

#include "frontends/ptx/collective.h"
#include "frontends/ptx/lanes.h"

namespace warpcheck::ptx {
namespace {

enum class Multiplication : uint8_t { kFloat, kInteger, kXorBits, kAndBits };

struct Shape {
  uint32_t m = 0, n = 8, k = 0;
};

// Elements of A or B.
struct ElementKind {
  uint32_t bits = 16;
  bool is_float = true, is_signed = false;
  Format format = Format::kF16;
};

struct Product {
  Shape shape;
  ElementKind a, b;
  Format result = Format::kF32;  // of floats
  Format addend = Format::kF32;
  Multiplication how = Multiplication::kFloat;
  bool saturates = false;
};

// The decoded form travels in the code: `immediate` holds the shape, `form` the formats.
ElementKind kind_of(std::string_view type) {
  if (const auto format = format_of(type)) return {bits_of(*format), true, false, *format};
  if (type == "s8" || type == "u8") return {8, false, type[0] == 's', Format::kF16};
  if (type == "s4" || type == "u4") return {4, false, type[0] == 's', Format::kF16};
  if (type == "b1") return {1, false, false, Format::kF16};
  throw NotSupported();
}

class Mma {
 public:
  Mma(Warp& warp, const Code& code, const Product& product) : warp_(warp), code_(code), p_(product) {}

  void run() {
    const Shape& s = p_.shape;
    load(a_, 0, s.m, p_.a, true);
    load(b_, code_.targets[0], s.n, p_.b, false);
    const size_t c = code_.targets[0] + code_.targets[1];
    const bool packed = p_.how == Multiplication::kFloat && bits_of(p_.result) == 16;
    std::vector<Tags> tags(code_.to_vector.size());
    std::vector<std::array<uint64_t, 32>> made(code_.to_vector.size());
    for (uint32_t lane = 0; lane < 32; ++lane) {
      for (uint32_t j = 0; j < s.m / 4; ++j) {
        const uint32_t row = lane / 4 + 8 * (j / 2), column = 2 * (lane % 4) + j % 2;
        const uint32_t reg = packed ? j / 2 : j, half = packed ? j % 2 : 0;
        const bool c_packed = p_.how == Multiplication::kFloat && bits_of(p_.addend) == 16;
        const Source& addend = code_.from_vector[c + (c_packed ? j / 2 : j)];
        const uint64_t c_bits = value_of(warp_, addend, lane) >> (c_packed ? 16 * (j % 2) : 0);
        made[reg][lane] |= element(row, column, c_bits) << (16 * half);
        add_tags(tags[reg], row, column, addend, lane);
      }
    }
    for (size_t reg = 0; reg < made.size(); ++reg) {
      warp_.slots[code_.to_vector[reg]].lane = made[reg];
      tags[reg].set(warp_, code_.to_vector[reg], ~0U);
    }
  }

 private:
  struct Matrix {
    std::vector<double> reals;      // by row (A) or column (B), then k
    std::vector<int64_t> integers;
    std::array<Tags, 16> tags{};    // of a row or column: a lane mask stands for "any"
  };

  void load(Matrix& into, size_t first, uint32_t rows, const ElementKind& kind, bool is_a) {
    const uint32_t k = p_.shape.k, per = kind.bits == 64 ? 1 : 32 / kind.bits;
    into.reals.assign(size_t{rows} * k, 0);
    into.integers.assign(size_t{rows} * k, 0);
    const bool two = is_a && rows == 16;
    const uint32_t registers = rows * k / per / 32;
    for (uint32_t r = 0; r < registers; ++r) {
      const Source& source = code_.from_vector[first + r];
      for (uint32_t lane = 0; lane < 32; ++lane) {
        const uint32_t row = lane / 4 + (two && r % 2 == 1 ? 8 : 0);
        const uint32_t column = (lane % 4) * per + 4 * per * (two ? r / 2 : r);
        const uint64_t value = value_of(warp_, source, lane);
        for (uint32_t i = 0; i < per; ++i) set(into, size_t{row} * k + column + i, kind, value >> (i * kind.bits));
        note(into.tags[row], source, lane);
      }
    }
  }

  static void set(Matrix& into, size_t at, const ElementKind& kind, uint64_t bits) {
    if (kind.bits < 64) bits &= (uint64_t{1} << kind.bits) - 1;
    if (kind.is_float) into.reals[at] = decode_float(kind.format, bits);
    else into.integers[at] = kind.is_signed ? static_cast<int64_t>(bits << (64 - kind.bits)) >> (64 - kind.bits) : static_cast<int64_t>(bits);
  }

  void note(Tags& tags, const Source& source, uint32_t lane) const {
    if (source.slot == kNone) return;
    const Slot& slot = warp_.slots[source.slot];
    if ((slot.uninitialized >> lane & 1) != 0) {
      tags.uninitialized = 1;
      tags.origin = slot.origin;
    }
    tags.opaque |= slot.opaque >> lane & 1;
  }

  void add_tags(Tags& into, uint32_t row, uint32_t column, const Source& addend, uint32_t lane) const {
    Tags all;
    note(all, addend, lane);
    for (const Tags& tags : {a_.tags[row], b_.tags[column]}) {
      all.uninitialized |= tags.uninitialized;
      all.opaque |= tags.opaque;
      if (tags.uninitialized != 0) all.origin = tags.origin;
    }
    into.uninitialized |= all.uninitialized << lane;
    into.opaque |= all.opaque << lane;
    if (all.uninitialized != 0) into.origin = all.origin;
  }

  uint64_t element(uint32_t row, uint32_t column, uint64_t c_bits) const {
    const size_t a = size_t{row} * p_.shape.k, b = size_t{column} * p_.shape.k;
    if (p_.how == Multiplication::kFloat) {
      double sum = decode_float(p_.addend, bits_of(p_.addend) == 16 ? c_bits & 0xffff : c_bits);
      for (uint32_t k = 0; k < p_.shape.k; ++k) sum = std::fma(a_.reals[a + k], b_.reals[b + k], sum);
      return encode_float(p_.result, sum);
    }
    int64_t sum = static_cast<int32_t>(c_bits);
    for (uint32_t k = 0; k < p_.shape.k; ++k) {
      const int64_t x = a_.integers[a + k], y = b_.integers[b + k];
      sum += p_.how == Multiplication::kInteger ? x * y : p_.how == Multiplication::kXorBits ? x ^ y : x & y;
    }
    if (p_.saturates) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
    return static_cast<uint32_t>(sum);
  }

  Warp& warp_;
  const Code& code_;
  const Product& p_;
  Matrix a_, b_;
};

Product product_of(const Code& code) {
  const FloatForm& form = code.form;
  Product made;
  made.shape = {static_cast<uint32_t>(code.immediate >> 16), 8, static_cast<uint32_t>(code.immediate & 0xffff)};
  made.how = static_cast<Multiplication>(code.mode);
  made.a = {form.width, form.is_float, code.is_signed, form.format};
  made.b = {form.from_width, form.from_float, form.from_signed, form.from_format};
  made.result = form.result;
  made.addend = form.addend;
  made.saturates = form.saturates;
  return made;
}

Flow run_mma(Interpreter& interpreter, Fragment& fragment, const Code& code, LaneMask members) {
  if (members != ~0U) return interpreter.unsupported(fragment, code, "a warp of fewer than 32 lanes cannot run this together");
  const Product product = product_of(code);
  Mma(*fragment.warp, code, product).run();
  return Flow::kNext;
}

Shape take_shape(Modifiers& modifiers) {
  struct Named {
    std::string_view name;
    Shape shape;
  };
  static constexpr Named kNames[] = {
      {"m8n8k4", {8, 8, 4}},     {"m8n8k16", {8, 8, 16}},   {"m8n8k32", {8, 8, 32}},   {"m8n8k128", {8, 8, 128}}, {"m16n8k4", {16, 8, 4}},
      {"m16n8k8", {16, 8, 8}},   {"m16n8k16", {16, 8, 16}}, {"m16n8k32", {16, 8, 32}}, {"m16n8k64", {16, 8, 64}}, {"m16n8k128", {16, 8, 128}},
      {"m16n8k256", {16, 8, 256}}};
  for (const Named& named : kNames) {
    if (modifiers.take(named.name)) return named.shape;
  }
  throw NotSupported();
}

// Small types are no types of registers, so the modifiers do not know them.
std::string_view take_element(Modifiers& modifiers) {
  const std::string_view type = modifiers.front();
  if (type.empty() || !modifiers.take_first()) throw NotSupported();
  return type;
}

// mma.sync.aligned.SHAPE.row.col[.satfinite].D.A.B.C[.xor|and .popc] d, a, b, c
void decode_mma(Decoder& decoder, Modifiers& modifiers, Code& code) {
  const Shape shape = take_shape(modifiers);
  if (!modifiers.take("row") || !modifiers.take("col")) throw NotSupported();
  modifiers.take("kind::f8f6f4");
  code.form.saturates = modifiers.take("satfinite");
  const bool popc = modifiers.take("popc"), by_xor = popc && modifiers.take("xor"), by_and = popc && modifiers.take("and");
  const std::string_view d = take_element(modifiers), a_type = take_element(modifiers), b_type = take_element(modifiers), c = take_element(modifiers);
  const ElementKind a = kind_of(a_type), b = kind_of(b_type);
  if (a.bits != b.bits || a.is_float != b.is_float) throw NotSupported();
  FloatForm& form = code.form;
  if (a.is_float) {
    const auto result = format_of(d), addend = format_of(c);
    if (!result || !addend || (shape.m == 8 && a.bits != 64)) throw NotSupported();  // m8n8k4 of f16 has fragments of its own
    form.result = *result;
    form.addend = *addend;
    code.mode = static_cast<uint8_t>(Multiplication::kFloat);
  } else {
    if (d != "s32" || c != "s32" || (a.bits == 1) != (by_xor || by_and)) throw NotSupported();
    code.mode = static_cast<uint8_t>(by_xor ? Multiplication::kXorBits : by_and ? Multiplication::kAndBits : Multiplication::kInteger);
  }
  form.is_float = a.is_float;
  form.format = a.format;
  form.width = static_cast<uint8_t>(a.bits);
  code.is_signed = a.is_signed;
  form.from_float = b.is_float;
  form.from_format = b.format;
  form.from_width = static_cast<uint8_t>(b.bits);
  form.from_signed = b.is_signed;
  code.immediate = uint64_t{shape.m} << 16 | shape.k;
  code.approximate = a.is_float;
  code.to_vector = destinations_of(decoder, decoder.operand(0));
  for (size_t i = 1; i <= 3; ++i) {
    const std::vector<Source> sources = sources_of(decoder, decoder.operand(i));
    code.targets.push_back(static_cast<uint32_t>(sources.size()));
    code.from_vector.insert(code.from_vector.end(), sources.begin(), sources.end());
  }
  const uint32_t per = a.bits == 64 ? 1 : 32 / a.bits;
  const auto accumulators = [&](Format format) { return shape.m / 4 / (a.is_float && bits_of(format) == 16 ? 2 : 1); };
  if (code.targets[0] != shape.m * shape.k / per / 32 || code.targets[1] != 8 * shape.k / per / 32 ||
      code.targets[2] != accumulators(form.addend) || code.to_vector.size() != accumulators(form.result)) {
    throw NotSupported();
  }
  set_aligned(code, run_mma);
}

// Products of bits count ones, which for single bits is what adding them does.
constexpr Row kRows[] = {{"mma.sync.aligned", decode_mma}};

}  // namespace

std::span<const Row> mma_rows() { return kRows; }

}  // namespace warpcheck::ptx
