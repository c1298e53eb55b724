#include "elf/launcher.hpp"

#include <fmt/core.h>
#include <string>

namespace quarry::elf {

namespace {
constexpr std::uint64_t k_launcher_max = 64u << 10; // ours has 6 kB; reading more would mean a wrong file
constexpr std::size_t k_slot_bytes = 4096;          // PATH_MAX of Linux, with the NUL
// In two parts, so that the whole text stands in the launcher alone and not in every program that holds this function.
const std::string k_magic = std::string("QUARRY-LAUNCHER-") + "TARGET-SLOT-1:\n" + '\0';

Result<void> check_target(std::string_view target) {
  auto bad = [](std::string text) { return fail(ErrorKind::invalid_argument, "E018", std::move(text)); };
  if (target.empty()) return bad("a launcher needs a target");
  if (target[0] == '/')
    return bad(fmt::format("the target {} of a launcher is absolute: it would leave the package", target));
  if (target.find('\0') != target.npos) return bad("the target of a launcher holds a NUL byte");
  if (target.size() >= k_slot_bytes)
    return bad(fmt::format("the target of a launcher has {} bytes, more than the {} it can hold", target.size(),
                           k_slot_bytes - 1));
  return {};
}
} // namespace

Result<content::Rope> launcher_for(const content::Rope& launcher, std::string_view relative_target) {
  TRY_DO(check_target(relative_target));
  auto wrong = [](std::string_view why) {
    return fail(ErrorKind::corrupt, "E019", fmt::format("the launcher program is not usable: {}", why),
                "rebuild or reinstall quarry");
  };
  if (launcher.size() > k_launcher_max) return wrong("it is too large");
  TRY(auto bytes, launcher.read_all(k_launcher_max));
  auto at = bytes.find(k_magic);
  if (at == bytes.npos || bytes.find(k_magic, at + 1) != bytes.npos)
    return wrong("it does not have exactly one slot for a target");
  auto slot = at + k_magic.size();
  if (bytes.size() - slot < k_slot_bytes) return wrong("its slot is cut off");
  if (bytes.find_first_not_of('\0', slot) < slot + k_slot_bytes) return wrong("its slot is already filled");
  return launcher.overlay(slot, std::string(relative_target));
}

Result<std::optional<std::string>> launcher_target(const content::Rope& file) {
  if (file.size() > k_launcher_max) return std::optional<std::string>();
  TRY(auto bytes, file.read_all(k_launcher_max));
  auto at = bytes.find(k_magic);
  if (at == bytes.npos || bytes.find(k_magic, at + 1) != bytes.npos) return std::optional<std::string>();
  auto slot = at + k_magic.size();
  auto end = bytes.find('\0', slot);
  if (end == bytes.npos || end == slot || end - slot >= k_slot_bytes) return std::optional<std::string>();
  return bytes.substr(slot, end - slot);
}

} // namespace quarry::elf
