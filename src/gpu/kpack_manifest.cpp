#include "gpu/kpack_manifest.hpp"

#include "gpu/message_pack.hpp"
#include <utility>

namespace quarry::gpu {

namespace {
constexpr std::size_t k_manifest_targets_max = 10'000; // LLVM knows 60 processors
}

std::optional<std::set<std::string>> targets_in_manifest(std::string_view bytes) {
  MessagePack in(bytes);
  std::optional<std::set<std::string>> targets;
  bool read = each_pair(in, [&](std::string_view key) {
    if (key != "kpack_files") return false;
    std::set<std::string> found;
    bool is_map = each_pair(in, [&](std::string_view target) {
      auto base = target.substr(0, target.find(':'));
      if (!base.empty() && found.size() < k_manifest_targets_max) found.emplace(base);
      return false;
    });
    if (is_map) targets = std::move(found);
    return is_map;
  });
  return read && in.rest().empty() ? targets : std::nullopt;
}

} // namespace quarry::gpu
