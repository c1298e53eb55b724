#include "gpu/bundle.hpp"

#include "names/entry_names.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <numeric>

namespace quarry::gpu {

namespace {
constexpr std::size_t k_entry_bytes = 24; // offset, size, length of the id
// Device code packs 5 to 20 times; sets of empty kernels, which are padding for the most part, 100 times.
constexpr std::uint64_t k_expansion_max = 200, k_expansion_free = 64u << 20;

bool fits(std::uint64_t offset, std::uint64_t size, std::uint64_t limit) {
  return offset <= limit && size <= limit - offset;
}

Result<void> check_entries(const std::vector<Entry>& entries, std::uint64_t limit) {
  std::vector<const Entry*> sorted;
  for (const auto& entry : entries) {
    if (!fits(entry.offset, entry.size, limit))
      return damaged(fmt::format("entry {} has {} bytes at {:#x}, outside the bundle of at most {} bytes",
                                 names::printable(entry.id), entry.size, entry.offset, limit));
    if (entry.size > 0) sorted.push_back(&entry);
  }
  std::sort(sorted.begin(), sorted.end(), [](const Entry* a, const Entry* b) { return a->offset < b->offset; });
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i]->offset < sorted[i - 1]->offset + sorted[i - 1]->size)
      return damaged(fmt::format("entries {} and {} overlap", names::printable(sorted[i - 1]->id),
                                 names::printable(sorted[i]->id)));
  return {};
}

Result<Bundle> read_plain(const content::Rope& file, std::uint64_t begin, std::uint64_t limit, std::string bytes) {
  Bundle bundle{Container::bundle, {}, begin, begin, limit};
  while (bytes.size() <= 2 * k_table_max) {
    TRY(auto table, parse_table(bytes, limit - begin));
    if (table) {
      bundle.entries = std::move(table->entries);
      bundle.end = begin + table->bytes; // the next bundle begins behind it, however little the entries hold
      for (const auto& entry : bundle.entries) bundle.end = std::max(bundle.end, begin + entry.offset + entry.size);
      return bundle;
    }
    if (bytes.size() == limit - begin) return damaged("the table of a bundle ends too early");
    TRY(bytes, bytes_at(file, begin, std::min<std::uint64_t>(4 * bytes.size(), limit - begin)));
  }
  return damaged(fmt::format("the table of a bundle has more than {} bytes", k_table_max));
}

/// Takes a plain bundle as it flows by: first its table, then the head of each entry.
class Taker {
public:
  explicit Taker(std::uint64_t size) : size_(size) {}

  Result<void> take(std::string_view piece) {
    if (seen_ + piece.size() > size_)
      return damaged(fmt::format("a compressed bundle unpacks to more than the {} bytes that it promises", size_));
    if (!have_table_) {
      front_ += piece;
      TRY(auto table, parse_table(front_, size_));
      if (!table && front_.size() > k_table_max) return damaged("the table of a compressed bundle is too long");
      if (table) accept(std::move(table->entries));
    } else {
      keep(seen_, piece);
    }
    seen_ += piece.size();
    return {};
  }
  bool complete() const { return have_table_ && next_ == order_.size(); }
  std::uint64_t seen() const { return seen_; }
  std::vector<Entry> entries;

private:
  void accept(std::vector<Entry> table) {
    entries = std::move(table);
    order_.resize(entries.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(),
              [this](std::size_t a, std::size_t b) { return entries[a].offset < entries[b].offset; });
    have_table_ = true;
    keep(0, front_);
    front_.clear();
  }
  // The part of `piece`, which stands at `at`, that belongs to heads.
  void keep(std::uint64_t at, std::string_view piece) {
    for (auto i = next_; i < order_.size() && entries[order_[i]].offset < at + piece.size(); ++i) {
      auto& entry = entries[order_[i]];
      auto wanted = std::min<std::uint64_t>(entry.size, k_elf_head_bytes);
      auto from = entry.offset + entry.head.size();
      if (entry.head.size() < wanted && from >= at) entry.head += piece.substr(from - at, wanted - entry.head.size());
    }
    auto is_whole = [](const Entry& e) { return e.head.size() == std::min<std::uint64_t>(e.size, k_elf_head_bytes); };
    while (next_ < order_.size() && is_whole(entries[order_[next_]])) ++next_;
  }

  std::uint64_t size_, seen_ = 0;
  std::string front_;
  std::vector<std::size_t> order_; // of the entries, by offset
  std::size_t next_ = 0;           // of `order_`: the heads before it are complete
  bool have_table_ = false;
};

Result<Bundle> read_compressed(const content::Rope& file, std::uint64_t begin, std::uint64_t limit, Budget& budget) {
  TRY(auto bytes, bytes_at(file, begin, std::min<std::uint64_t>(32, limit - begin)));
  TRY(auto header, parse_compressed(bytes));
  bool sized = header.total != 0;
  if (sized && (header.total < header.bytes || header.total > limit - begin))
    return damaged(fmt::format("a compressed bundle promises {} bytes; {} are left", header.total, limit - begin));
  auto packed_bytes = (sized ? header.total : limit - begin) - header.bytes;
  auto unpacker = unpack(header.method, file.slice(begin + header.bytes, packed_bytes));
  Taker taker(header.unpacked);
  bool ended = false;
  // Version 1 does not say where it ends: its stream must be read to the end.
  while (!ended && (!sized || !taker.complete())) {
    auto packed_before = unpacker->consumed();
    TRY(auto piece, unpacker->next());
    budget.packed += unpacker->consumed() - packed_before;
    if (!budget.allows(piece.size()))
      return damaged(fmt::format("compressed bundles unpack to more than {} times their size", k_expansion_max));
    budget.unpacked += piece.size();
    TRY_DO(taker.take(piece));
    ended = piece.empty();
  }
  if (ended && taker.seen() != header.unpacked)
    return damaged(
        fmt::format("a compressed bundle promises {} bytes and unpacks to {}", header.unpacked, taker.seen()));
  if (!taker.complete()) return damaged("a compressed bundle ends inside its table or its first entries");
  return Bundle{Container::compressed_bundle, std::move(taker.entries), begin,
                sized ? begin + header.total : begin + header.bytes + unpacker->consumed(), limit};
}
} // namespace

Result<CompressedHeader> parse_compressed(std::string_view bytes) {
  constexpr std::size_t k_sizes[] = {0, 20, 24, 32};
  if (bytes.size() < 8) return damaged("a compressed bundle ends inside its header");
  auto version = value_in<std::uint16_t>(bytes, 4), method = value_in<std::uint16_t>(bytes, 6);
  if (version < 1 || version > 3)
    return unknown_form(fmt::format("a compressed bundle has version {}; versions 1 to 3 are known", version));
  if (method > 1) return unknown_form(fmt::format("a compressed bundle uses the unknown method {}", method));
  CompressedHeader header{version, k_sizes[version], 0, 0, method == 0 ? Method::zlib : Method::zstd};
  if (bytes.size() < header.bytes) return damaged("a compressed bundle ends inside its header");
  if (version == 1) {
    header.unpacked = value_in<std::uint32_t>(bytes, 8);
  } else if (version == 2) {
    header.total = value_in<std::uint32_t>(bytes, 8);
    header.unpacked = value_in<std::uint32_t>(bytes, 12);
  } else {
    header.total = value_in<std::uint64_t>(bytes, 8);
    header.unpacked = value_in<std::uint64_t>(bytes, 16);
  }
  return header;
}

std::optional<std::uint64_t> compressed_bytes(std::string_view head) {
  if (!head.starts_with(k_compressed_magic)) return std::nullopt;
  auto header = parse_compressed(head);
  return header && header->total != 0 ? std::optional(header->total) : std::nullopt;
}

Unexpected damaged(std::string message) {
  return fail(ErrorKind::corrupt, "G101", std::move(message), "build or fetch the file again");
}

Unexpected unknown_form(std::string message) {
  return fail(ErrorKind::unsupported, "G102", std::move(message), "a newer quarry may know it");
}

Result<std::string> bytes_at(const content::Rope& file, std::uint64_t at, std::uint64_t wanted) {
  if (at >= file.size()) return std::string();
  std::string bytes(std::min(wanted, file.size() - at), '\0');
  TRY_DO(file.read(at, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

std::uint64_t page_end(const Bundle& bundle) {
  auto pages = (bundle.end - bundle.begin + k_bundle_align - 1) / k_bundle_align;
  return std::min(bundle.begin + pages * k_bundle_align, bundle.limit);
}

bool Budget::allows(std::uint64_t more) const { return unpacked + more <= k_expansion_free + k_expansion_max * packed; }

Result<std::optional<Table>> parse_table(std::string_view bytes, std::uint64_t limit) {
  std::optional<Table> more;
  auto at = k_bundle_magic.size();
  if (bytes.size() < at + sizeof(std::uint64_t)) return more;
  if (!bytes.starts_with(k_bundle_magic)) return damaged("no offload bundle begins where one must be");
  auto count = value_in<std::uint64_t>(bytes, at);
  if (count > k_entries_max)
    return damaged(fmt::format("a bundle promises {} entries, more than the {} that are read", count, k_entries_max));
  at += sizeof count;
  std::vector<Entry> entries;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (bytes.size() < at + k_entry_bytes) return more;
    Entry entry{{}, value_in<std::uint64_t>(bytes, at), value_in<std::uint64_t>(bytes, at + 8), {}};
    auto length = value_in<std::uint64_t>(bytes, at + 16);
    if (length > k_id_max)
      return damaged(fmt::format("entry {} of a bundle has an id of {} bytes, more than {}", i, length, k_id_max));
    at += k_entry_bytes;
    if (bytes.size() < at + length) return more;
    entry.id = bytes.substr(at, length);
    at += length;
    entries.push_back(std::move(entry));
  }
  TRY_DO(check_entries(entries, limit));
  return std::optional(Table{std::move(entries), at});
}

Result<Bundle> read_bundle(const content::Rope& file, std::uint64_t begin, std::uint64_t limit, std::string front,
                           Budget& budget) {
  if (front.starts_with(k_compressed_magic)) return read_compressed(file, begin, limit, budget);
  if (!front.starts_with(k_bundle_magic)) return damaged("no offload bundle begins where one must be");
  return read_plain(file, begin, limit, std::move(front));
}

} // namespace quarry::gpu
