#include "archive/deflate_walk.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace quarry::archive {

namespace {

// One table holds both alphabets; an entry says how many bits to drop (code and extra bits together) and in which half
// the next lookup happens. So literals, lengths and distances run through one loop without a branch that data could
// mispredict.
constexpr unsigned k_table_bits = 11;
constexpr std::uint32_t k_table_size = 1u << k_table_bits, k_table_mask = k_table_size - 1;
constexpr std::uint32_t k_drop_mask = 63;      // bits 0..5: bits to drop
constexpr std::uint32_t k_exception = 1u << 6; // end of block, a longer code than the index, or no code
constexpr std::uint32_t k_literals = 0,
                        k_distances = k_table_size; // where a half starts; an entry's bit 11 is that number
constexpr unsigned k_code_bits_max = 15, k_end_of_block = 256;

constexpr std::array<std::uint8_t, 29> k_length_extra{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                      2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
constexpr std::array<std::uint8_t, 30> k_distance_extra{0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                                        6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};

/// Bits in the order of deflate: from the least significant bit of each byte.
class Bits {
public:
  explicit Bits(std::span<const std::byte> in) : begin_(in.data()), next_(in.data()), end_(in.data() + in.size()) {}

  // At least 56 bits afterwards, zeros behind the end.
  void refill() {
    if (end_ - next_ >= 8) {
      std::uint64_t word;
      std::memcpy(&word, next_, 8);
      buffer |= word << count;
      auto taken = (63 - count) >> 3;
      next_ += taken;
      count += taken * 8;
      return;
    }
    while (count <= 56) {
      if (next_ < end_)
        buffer |= std::to_integer<std::uint64_t>(*next_++) << count;
      else
        beyond_ += 8;
      count += 8;
    }
  }
  void drop(unsigned n) {
    buffer >>= n;
    count -= n;
  }
  std::uint32_t take(unsigned n) {
    auto value = static_cast<std::uint32_t>(buffer & ((1ull << n) - 1));
    drop(n);
    return value;
  }
  std::uint64_t position() const { return static_cast<std::uint64_t>(next_ - begin_) * 8 + beyond_ - count; }
  bool exhausted() const { return beyond_ > 128; } // far behind the end: stop a loop that no code ends
  bool overrun() const { return position() > static_cast<std::uint64_t>(end_ - begin_) * 8; }
  /// Stored data: to the byte boundary, then `n` bytes further.
  std::optional<std::uint32_t> stored_length() {
    drop(count & 7);
    refill();
    auto length = take(16), inverse = take(16);
    if ((length ^ inverse) != 0xFFFF || overrun()) return std::nullopt;
    return length;
  }
  bool skip_bytes(std::uint64_t n) {
    auto target = position() / 8 + n;
    if (target > static_cast<std::uint64_t>(end_ - begin_)) return false;
    next_ = begin_ + target;
    buffer = 0;
    count = 0;
    beyond_ = 0;
    return true;
  }

  std::uint64_t buffer = 0;
  unsigned count = 0;

private:
  const std::byte *begin_, *next_, *end_;
  std::uint64_t beyond_ = 0;
};

// The low `length` bits of `code` in the other order.
std::uint32_t reverse(std::uint32_t code, unsigned length) {
  code = (code & 0x5555) << 1 | (code >> 1 & 0x5555);
  code = (code & 0x3333) << 2 | (code >> 2 & 0x3333);
  code = (code & 0x0F0F) << 4 | (code >> 4 & 0x0F0F);
  code = (code & 0x00FF) << 8 | (code >> 8 & 0x00FF);
  return code >> (16 - length);
}

/// A canonical Huffman code: by table up to k_table_bits, by counting (RFC 1951 §3.2.2) beyond.
struct Code {
  std::array<std::uint16_t, k_code_bits_max + 1> counts{};
  std::array<std::uint16_t, 288> symbols{};

  // false when more codes are claimed than there can be.
  bool build(std::span<const std::uint8_t> lengths) {
    counts.fill(0);
    for (auto l : lengths) ++counts[l];
    counts[0] = 0;
    int left = 1;
    for (unsigned l = 1; l <= k_code_bits_max; ++l) {
      left = left * 2 - counts[l];
      if (left < 0) return false;
    }
    std::array<std::uint16_t, k_code_bits_max + 2> at{};
    for (unsigned l = 1; l <= k_code_bits_max; ++l) at[l + 1] = static_cast<std::uint16_t>(at[l] + counts[l]);
    for (std::size_t s = 0; s < lengths.size(); ++s)
      if (lengths[s]) symbols[at[lengths[s]]++] = static_cast<std::uint16_t>(s);
    return true;
  }

  /// Calls each(symbol, length, first index of the table) for the codes that fit into `bits`.
  template <class Each> void short_codes(unsigned bits, Each each) const {
    std::uint32_t code = 0;
    std::size_t at = 0;
    for (unsigned l = 1; l <= bits; ++l, code <<= 1)
      for (unsigned i = 0; i < counts[l]; ++i, ++code) each(symbols[at++], l, reverse(code, l));
  }

  // One bit after the other; rare.
  std::optional<unsigned> decode(Bits& bits) const {
    std::uint32_t code = 0, first = 0, index = 0;
    for (unsigned l = 1; l <= k_code_bits_max; ++l) {
      code |= bits.take(1);
      if (code - first < counts[l]) return symbols[index + code - first];
      index += counts[l];
      first = (first + counts[l]) << 1;
      code <<= 1;
    }
    return std::nullopt;
  }
};

} // namespace

struct DeflateWalker::Tables {
  std::array<std::uint32_t, std::size_t{2} * k_table_size> entries{};
  Code literals, distances, lengths;

  // Shorter codes first; the table grows by doubling, so that each code is entered once.
  template <class Entry> void fill(std::uint32_t base, const Code& code, Entry entry) {
    auto* table = entries.data() + base;
    std::uint32_t size = 1;
    table[0] = k_exception;
    code.short_codes(k_table_bits, [&](unsigned symbol, unsigned length, std::uint32_t index) {
      for (; size < 1u << length; size *= 2) std::memcpy(table + size, table, size * sizeof *table);
      table[index] = entry(symbol, length);
    });
    for (; size < k_table_size; size *= 2) std::memcpy(table + size, table, size * sizeof *table);
  }

  bool build(std::span<const std::uint8_t> literal_lengths, std::span<const std::uint8_t> distance_lengths) {
    if (!literals.build(literal_lengths) || !distances.build(distance_lengths)) return false;
    fill(k_literals, literals, [](unsigned symbol, unsigned length) -> std::uint32_t {
      if (symbol < k_end_of_block) return length | k_literals;
      if (symbol == k_end_of_block || symbol > 285) return k_exception;
      return (length + k_length_extra[symbol - 257]) | k_distances;
    });
    fill(k_distances, distances, [](unsigned symbol, unsigned length) -> std::uint32_t {
      if (symbol > 29) return k_exception;
      return (length + k_distance_extra[symbol]) | k_literals;
    });
    return true;
  }

  bool fixed_codes() {
    std::array<std::uint8_t, 288> l{};
    std::array<std::uint8_t, 30> d{};
    std::fill(l.begin(), l.begin() + 144, std::uint8_t{8});
    std::fill(l.begin() + 144, l.begin() + 256, std::uint8_t{9});
    std::fill(l.begin() + 256, l.begin() + 280, std::uint8_t{7});
    std::fill(l.begin() + 280, l.end(), std::uint8_t{8});
    d.fill(5);
    return build(l, d);
  }

  bool dynamic_codes(Bits& bits) {
    static constexpr std::array<std::uint8_t, 19> order{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                        11, 4,  12, 3, 13, 2, 14, 1, 15};
    bits.refill();
    unsigned literal_count = bits.take(5) + 257, distance_count = bits.take(5) + 1, length_count = bits.take(4) + 4;
    std::array<std::uint8_t, 19> code_lengths{};
    for (unsigned i = 0; i < length_count; ++i) {
      bits.refill();
      code_lengths[order[i]] = static_cast<std::uint8_t>(bits.take(3));
    }
    if (literal_count > 286 || !lengths.build(code_lengths)) return false;
    std::array<std::uint8_t, 286 + 32 + 138> all{};
    if (!read_lengths(bits, std::span(all).first(literal_count + distance_count))) return false;
    return build(std::span(all).first(literal_count), std::span(all).subspan(literal_count, distance_count));
  }

  bool read_lengths(Bits& bits, std::span<std::uint8_t> out) const {
    for (std::size_t i = 0; i < out.size();) {
      bits.refill();
      auto symbol = lengths.decode(bits);
      if (!symbol || bits.overrun()) return false;
      if (*symbol < 16) {
        out[i++] = static_cast<std::uint8_t>(*symbol);
        continue;
      }
      if (*symbol == 16 && i == 0) return false;
      auto value = *symbol == 16 ? out[i - 1] : std::uint8_t{0};
      auto repeat = *symbol == 16 ? 3 + bits.take(2) : *symbol == 17 ? 3 + bits.take(3) : 11 + bits.take(7);
      if (repeat > out.size() - i) return false;
      std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(i), repeat, value);
      i += repeat;
    }
    return true;
  }

  enum class Step { next, end, broken };

  // A code that the table does not hold. `table` is where the lookup was, and then where the next one is.
  Step exception(Bits& bits, std::uint32_t& table) const {
    bits.refill();
    bool literal = table == k_literals;
    auto symbol = (literal ? literals : distances).decode(bits);
    if (!symbol || bits.overrun()) return Step::broken;
    if (!literal) {
      if (*symbol > 29) return Step::broken;
      bits.drop(k_distance_extra[*symbol]);
      table = k_literals;
    } else if (*symbol == k_end_of_block) {
      return Step::end;
    } else if (*symbol > k_end_of_block) {
      if (*symbol > 285) return Step::broken;
      bits.drop(k_length_extra[*symbol - 257]);
      table = k_distances;
    }
    return Step::next;
  }

  // Two lookups after each refill: a length and a distance need at most 11 + 5 + 11 + 13 of its 56 bits. The copy of
  // `bits` lives in registers, since its address is never taken.
  bool skip_symbols(Bits& bits) const {
    std::uint32_t table = k_literals;
    const auto* all = entries.data();
    Bits hot = bits;
    hot.refill();
    while (!hot.exhausted()) {
      auto first = all[table + (hot.buffer & k_table_mask)];
      hot.refill();
      if (!(first & k_exception)) {
        hot.drop(first & k_drop_mask);
        table = first & k_distances;
        auto second = all[table + (hot.buffer & k_table_mask)];
        if (!(second & k_exception)) {
          hot.drop(second & k_drop_mask);
          table = second & k_distances;
          continue;
        }
      }
      bits = hot;
      auto step = exception(bits, table);
      if (step != Step::next) return step == Step::end && !bits.overrun();
      hot = bits;
    }
    return false;
  }

  bool skip_block(Bits& bits, unsigned type) {
    switch (type) {
    case 0: {
      auto length = bits.stored_length();
      return length && bits.skip_bytes(*length);
    }
    case 1: return fixed_codes() && skip_symbols(bits);
    case 2: return dynamic_codes(bits) && skip_symbols(bits);
    default: return false;
    }
  }
};

DeflateWalker::DeflateWalker() : tables_(std::make_unique<Tables>()) {}
DeflateWalker::~DeflateWalker() = default;

std::optional<LastBlock> DeflateWalker::find_last_block(std::span<const std::byte> stream) {
  Bits bits(stream);
  for (;;) {
    LastBlock block;
    block.header_bit = bits.position();
    bits.refill();
    bool last = bits.take(1) != 0;
    auto type = bits.take(2);
    if (bits.overrun() || !tables_->skip_block(bits, type)) return std::nullopt;
    block.end_bit = bits.position();
    if (last) return block;
  }
}

} // namespace quarry::archive
