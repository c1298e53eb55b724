#include "venv/seen.hpp"

#include "base/json.hpp"
#include "digest/sha256.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "venv/receipt.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::venv {

namespace {

constexpr std::uint64_t k_seen_bytes_max = 1u << 16; // four short fields
constexpr const char* k_seen_schema = "quarry.seen-channel/1";

std::string variable_of(const Variables& variables, const std::string& name) {
  auto found = variables.find(name);
  return found == variables.end() ? std::string() : found->second;
}

std::string path_of(const std::string& directory, const Seen& channel) {
  return path::join(directory, sha256(channel.address).hex() + ".json");
}

Result<Seen> read_seen(const std::string& text, const std::string& path) {
  Seen seen;
  TRY(auto json, json::parse({text, path}));
  TRY_DO(json::require_schema({json, path}, k_seen_schema));
  TRY(seen.store, json::string_at({json, path}, "store"));
  TRY(seen.address, json::string_at({json, path}, "address"));
  TRY(seen.channel, json::string_at({json, path}, "channel"));
  TRY(seen.generation, json::unsigned_at({json, path}, "generation"));
  TRY(auto view, json::string_at({json, path}, "view"));
  seen.view = registry::ViewDigest::parse(view).value_or(registry::ViewDigest());
  return seen;
}

} // namespace

std::string seen_directory(const Variables& variables) {
  auto state = variable_of(variables, "XDG_STATE_HOME"), home = variable_of(variables, "HOME");
  if (state.empty() && !home.empty()) state = path::join(home, ".local/state");
  return path::is_absolute(state) ? path::join(state, "quarry/channels") : std::string();
}

Result<std::optional<Seen>> last_seen(const std::string& directory, const Seen& channel) {
  auto path = directory.empty() ? std::string() : path_of(directory, channel);
  if (path.empty() || !sys::exists(path)) return std::optional<Seen>();
  TRY(auto text, sys::read_file(path, k_seen_bytes_max));
  auto seen = read_seen(text, path);
  if (seen) return std::optional(std::move(*seen));
  auto error = std::move(seen).error();
  error.hint = fmt::format("remove {}: then this machine forgets which generation of channel {} it has seen", path,
                           channel.channel);
  return fail(std::move(error));
}

std::optional<Seen> seen_by_receipt(const std::string& environment, const Seen& channel) {
  Environment at;
  at.directory = environment;
  auto read = read_receipt(at);
  if (!read || !*read) return std::nullopt; // a damaged one is replaced by this installation
  const auto& receipt = **read;
  if (receipt.store != channel.store || receipt.source != "channel:" + channel.channel) return std::nullopt;
  return Seen{receipt.store, channel.address, channel.channel, receipt.generation, receipt.view};
}

Result<void> refuse_older(const Memory& memory, const Seen& now) {
  const auto& [before, who] = memory;
  bool older = now.generation < before.generation;
  bool another = now.generation == before.generation && !before.view.empty() && now.view != before.view;
  if (!older && !another) return {};
  return fail(
      Error::of(ErrorKind::corrupt, "V040",
                fmt::format("channel {} of {} is at generation {}{}, and {} has seen generation {}", now.channel,
                            now.store, now.generation, another ? " with other packages" : "", who, before.generation))
          .with_detail("seen  view " + before.view.hex())
          .with_detail("now   view " + now.view.hex())
          .with_hint("a channel's generation never falls, also not by a rollback: the store is an old copy, or "
                     "somebody set it back; if it was restored on purpose: --allow-older"));
}

Result<void> remember(const std::string& directory, const Seen& now) {
  if (directory.empty()) return {};
  TRY_DO(sys::make_directories(directory));
  Json json{{"schema", k_seen_schema}, {"store", now.store},           {"address", now.address},
            {"channel", now.channel},  {"generation", now.generation}, {"view", now.view}};
  TRY(auto file, sys::AtomicFile::create(path_of(directory, now)));
  TRY_DO(file.file().write(json::lossy_text(json) + "\n"));
  return file.commit_replace();
}

} // namespace quarry::venv
