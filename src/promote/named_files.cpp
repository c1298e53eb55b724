#include "promote/named_files.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <set>
#include <string_view>

namespace quarry::promote {

using registry::BlockedFile;

Result<std::vector<BlockedFile>> take_named(store::ObjectReader& store, const std::string& word,
                                            std::vector<BlockedFile>& blocked) {
  constexpr std::string_view k_set_prefix = "set:";
  std::set<Sha256> of_set;
  bool set = word.starts_with(k_set_prefix);
  if (set) {
    TRY(auto sealed, registry::load_sealed(store, word.substr(k_set_prefix.size())));
    for (const auto& file : sealed.set.files) of_set.insert(file.sha256);
  }
  auto is_named = [&](const BlockedFile& file) {
    return set ? of_set.contains(file.sha256) : file.filename == word || file.sha256.hex() == word;
  };
  std::vector<BlockedFile> taken;
  std::ranges::copy_if(blocked, std::back_inserter(taken), is_named);
  std::erase_if(blocked, is_named);
  return taken;
}

Unexpected not_shown(const registry::ChannelRecord& channel, const std::string& word) {
  return fail(ErrorKind::not_found, "O024", fmt::format("channel {} shows nothing of {}", channel.name, word),
              fmt::format("nothing was changed; `quarry channel show {}` lists what it shows", channel.name));
}

} // namespace quarry::promote
