#include "inspect/sketch.hpp"

#include "base/zeros.hpp"
#include "gpu/contents.hpp"
#include <algorithm>
#include <cstring>

namespace quarry::inspect {

namespace {
constexpr std::uint64_t k_page = 4096;          // bundles and the objects in them begin at multiples of it
constexpr std::uint64_t k_front_pages = 16;     // program headers, and small files
constexpr std::uint64_t k_library_pages = 4096; // of an ELF file: symbols, their names and versions; libLLVM has 8 MB
constexpr std::size_t k_pages_bytes_max = 64u << 20; // 16,384 pages; librocsparse needs 900
constexpr std::size_t k_tail_bytes = 8u << 20;       // dynamic section and section table: 100,000 sections have 6.4 MB

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// How many pages a container that begins here needs, this one included.
std::uint64_t pages_of(std::string_view page) {
  if (!gpu::may_hold_code(page)) return 0;
  if (auto packed = gpu::compressed_bytes(page)) return (*packed + k_page - 1) / k_page;
  return 2; // the table of a bundle of 60 entries
}
} // namespace

void Sketch::page(std::string_view bytes) {
  auto number = zeros_.size();
  bool zero = bytes.size() == k_page && zeros::all_zero(bytes);
  zeros_.push_back(zero);
  keep_until_ = std::max(keep_until_, number + pages_of(bytes));
  if (number == 0) keep_until_ = std::max(keep_until_, bytes.starts_with("\177ELF") ? k_library_pages : k_front_pages);
  if (zero || number >= keep_until_) return;
  if ((kept_.pages.size() + 1) * k_page > k_pages_bytes_max) return;
  kept_.numbers.push_back(number);
  std::ranges::copy(bytes, kept_.pages.emplace_back().begin()); // the last page of the file may be shorter
}

void Sketch::feed(std::span<const std::byte> bytes) {
  auto text = text_of(bytes);
  // Copying all bytes, to keep the last ones, took an eighth of the time of `wheel check`.
  auto tail_at = bytes_.expected - std::min<std::uint64_t>(bytes_.expected, k_tail_bytes);
  if (tail_.capacity() < bytes_.expected - tail_at) tail_.reserve(bytes_.expected - tail_at);
  if (bytes_.fed + text.size() > tail_at) tail_ += text.substr(bytes_.fed < tail_at ? tail_at - bytes_.fed : 0);
  bytes_.fed += text.size();
  if (!partial_.empty()) {
    auto missing = std::min<std::size_t>(k_page - partial_.size(), text.size());
    partial_ += text.substr(0, missing);
    text.remove_prefix(missing);
    if (partial_.size() < k_page) return;
    page(partial_);
    partial_.clear();
  }
  for (; text.size() >= k_page; text.remove_prefix(k_page)) page(text.substr(0, k_page));
  partial_ = text;
}

void Sketch::end_of_file() {
  if (!partial_.empty()) page(partial_);
  partial_.clear();
}

const char* Sketch::page_at(std::uint64_t number) const {
  static constexpr std::array<char, k_page> k_zeros{};
  auto found = std::ranges::lower_bound(kept_.numbers, number);
  if (found != kept_.numbers.end() && *found == number)
    return kept_.pages[static_cast<std::size_t>(found - kept_.numbers.begin())].data();
  return number < zeros_.size() && zeros_[number] ? k_zeros.data() : nullptr;
}

Result<void> Sketch::read(std::uint64_t offset, std::span<std::byte> into) const {
  auto tail_at = bytes_.fed - tail_.size();
  if (offset >= tail_at) {
    std::memcpy(into.data(), tail_.data() + (offset - tail_at), into.size());
    return {};
  }
  for (std::size_t done = 0; done < into.size();) {
    auto at = offset + done;
    const auto* page = page_at(at / k_page);
    missed_ = missed_ || !page;
    if (missed_) return fail(ErrorKind::unavailable, "G111", "these bytes were not kept while the file was read once");
    auto count = std::min<std::size_t>(k_page - at % k_page, into.size() - done);
    std::memcpy(into.data() + done, page + at % k_page, count);
    done += count;
  }
  return {};
}

} // namespace quarry::inspect
