#include "names/name_tree.hpp"

#include "names/entry_names.hpp"
#include <algorithm>
#include <cstring>
#include <fmt/core.h>

namespace quarry::names {

namespace {
constexpr std::size_t k_chunk_bytes = 64u << 10;
} // namespace

// The seed differs from process to process (the address space is randomised), so an archive cannot be made of names
// whose hashes collide.
NameTree::NameTree(std::uint64_t entries_max)
    : entries_max_(entries_max), seed_(reinterpret_cast<std::uintptr_t>(this) * 0x9E3779B97F4A7C15ull),
      nodes_(1, Node{}), chunk_fill_(k_chunk_bytes) {
  nodes_.front().first_alike = k_root;
}

std::uint32_t NameTree::hash_of(Id parent, std::string_view name) const {
  constexpr std::uint64_t k_prime = 0x100000001B3ull; // FNV-1a, from a start that nobody knows
  auto hash = (seed_ ^ parent) * 0x9E3779B97F4A7C15ull;
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * k_prime;
  hash = (hash ^ hash >> 32) * 0x9E3779B97F4A7C15ull;
  return static_cast<std::uint32_t>(hash >> 32);
}

template <class Same> NameTree::Id NameTree::Table::find(std::uint32_t hash, const Same& same) const {
  auto mask = slots.size() - 1;
  for (auto at = hash & mask;; at = (at + 1) & mask) {
    const auto& slot = slots[at];
    if (slot.id == k_none) return k_none;
    if (slot.hash == hash && same(slot.id)) return slot.id;
  }
}

void NameTree::Table::insert(std::uint32_t hash, Id id) {
  auto place = [](std::vector<Slot>& into, Slot slot) {
    auto mask = into.size() - 1;
    auto at = slot.hash & mask;
    while (into[at].id != k_none) at = (at + 1) & mask;
    into[at] = slot;
  };
  if (++used * 3 > slots.size() * 2) {
    std::vector<Slot> larger(slots.size() * 2);
    for (const auto& slot : slots)
      if (slot.id != k_none) place(larger, slot);
    slots = std::move(larger);
  }
  place(slots, {hash, id});
}

std::uint32_t NameTree::store(std::string_view name) {
  if (k_chunk_bytes - chunk_fill_ < name.size()) {
    chunks_.push_back(std::make_unique<char[]>(k_chunk_bytes));
    chunk_fill_ = 0;
  }
  std::memcpy(chunks_.back().get() + chunk_fill_, name.data(), name.size());
  auto at = (chunks_.size() - 1) * k_chunk_bytes + chunk_fill_;
  chunk_fill_ += name.size();
  return static_cast<std::uint32_t>(at);
}

std::string_view NameTree::name(Id id) const {
  const auto& node = nodes_[id];
  if (node.name_size == 0) return {};
  return {chunks_[node.name_at / k_chunk_bytes].get() + node.name_at % k_chunk_bytes, node.name_size};
}

NameTree::Id NameTree::find(Id parent, std::string_view wanted) const {
  return exact_.find(hash_of(parent, wanted), [&](Id id) { return nodes_[id].parent == parent && name(id) == wanted; });
}

NameTree::Id NameTree::add(Id parent, std::string_view added, std::uint8_t kind, bool implied) {
  auto id = static_cast<Id>(nodes_.size());
  auto stored = added.substr(0, UINT8_MAX);
  nodes_.push_back({parent, id, store(stored), 0, static_cast<std::uint8_t>(stored.size()), kind, implied});
  bytes_ += stored.size();
  implied_ += implied;
  exact_.insert(hash_of(parent, stored), id);
  // Directories that are one elsewhere share what lies below them.
  auto above = nodes_[parent].first_alike;
  auto folded = folded_name(stored);
  auto hash = hash_of(above, folded);
  auto alike = folded_.find(hash, [&](Id other) {
    return nodes_[nodes_[other].parent].first_alike == above && folded_name(name(other)) == folded;
  });
  if (alike == k_none)
    folded_.insert(hash, id);
  else
    nodes_[id].first_alike = alike;
  return id;
}

void NameTree::set_named(Id id) {
  implied_ -= nodes_[id].implied;
  nodes_[id].implied = false;
}

std::string NameTree::exhausted() const {
  if (size() > entries_max_) return fmt::format("holds more than {} entries", entries_max_);
  if (bytes_ > k_name_bytes_total_max) return fmt::format("holds more than {} bytes of names", k_name_bytes_total_max);
  auto named = size() - implied_;
  if (implied_ > k_implied_free + k_implied_per_entry * named)
    return fmt::format("names {} directories for {} entries", implied_, named);
  return {};
}

std::string NameTree::path(Id id) const {
  std::vector<std::string_view> parts;
  for (; id != k_root; id = nodes_[id].parent) parts.push_back(name(id));
  std::string path;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) path.append(path.empty() ? "" : "/").append(*part);
  return path;
}

} // namespace quarry::names
