#include "gpu/unneeded.hpp"

#include "gpu/bundle.hpp"
#include "gpu/thin.hpp"
#include <algorithm>

namespace quarry::gpu {

bool may_have_unneeded(std::string_view head) {
  return head.starts_with("\177ELF") || head.starts_with(k_bundle_magic);
}

std::optional<Unneeded> unneeded_of(std::string_view page, std::uint64_t limit,
                                    const std::vector<std::string>& devices) {
  if (!page.starts_with(k_bundle_magic)) return std::nullopt;
  auto table = parse_table(page, limit);
  if (!table || !*table) return std::nullopt;
  Unneeded out{{}, (*table)->bytes};
  for (const auto& entry : (*table)->entries) {
    out.end = std::max(out.end, entry.offset + entry.size);
    auto target = parse_entry_id(entry.id);
    if (!target || !is_unwanted(*target, devices)) continue;
    auto begin = (entry.offset + k_bundle_align - 1) / k_bundle_align * k_bundle_align + k_bundle_align;
    auto end = (entry.offset + entry.size) / k_bundle_align * k_bundle_align;
    if (begin < end) out.ranges.push_back({begin, end});
  }
  std::ranges::sort(out.ranges, {}, &Unneeded::Range::begin);
  return out;
}

} // namespace quarry::gpu
