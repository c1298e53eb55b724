#include "cli/compat/bootstrap.hpp"

#include "artifact/source.hpp"
#include "base/units.hpp"
#include "sys/file.hpp"
#include "sys/path.hpp"
#include "sys/tree.hpp"
#include <fmt/core.h>
#include <map>
#include <set>

namespace quarry::cli::compat {

namespace {

struct MovedEntry {
  std::string from, to; ///< to: below the build's directory
  bool directory = false;
};

Result<std::vector<MovedEntry>> moves_of(const artifact::Source& source) {
  std::vector<MovedEntry> moves;
  std::map<std::string, std::string> owners;
  for (const auto& item : source.items)
    for (const auto& base : item.bases) {
      auto root = path::join(item.directory, base);
      if (!sys::is_directory(root)) continue; // named in the manifest, and empty
      TRY(auto entries, sys::list_tree(root));
      for (const auto& entry : entries) {
        MovedEntry move{path::join(root, entry.path), path::join(base, entry.path),
                        entry.type == sys::EntryType::directory};
        auto [owner, first] = owners.emplace(move.to, move.directory ? "" : item.name.text());
        if (!first && !(move.directory && owner->second.empty()))
          return fail(ErrorKind::invalid_argument, "A015",
                      fmt::format("{} is in {} and in {}", move.to, owner->second, item.name.text()),
                      "leave one out with --exclude-artifacts");
        moves.push_back(std::move(move));
      }
    }
  return moves;
}

/// The directory as the artifacts have it, with its mark for the build.
Result<void> make_room(const std::string& build, const std::string& base) {
  auto directory = path::join(build, base);
  TRY_DO(sys::remove_tree(directory));
  TRY_DO(sys::make_directories(directory));
  return sys::write_file(directory + ".prebuilt", "");
}

} // namespace

Result<void> bootstrap_build(Context& context, const std::string& fetched, const std::string& build) {
  TRY(auto source, artifact::source_of_path(fetched));
  for (const auto& item : source.items)
    if (item.defect) return fail(*item.defect);
  TRY(auto moves, moves_of(source));
  std::set<std::string> bases;
  for (const auto& item : source.items) bases.insert(item.bases.begin(), item.bases.end());
  for (const auto& base : bases) TRY_DO(make_room(build, base));
  for (const auto& move : moves)
    if (move.directory)
      TRY_DO(sys::make_directories(path::join(build, move.to)));
    else
      TRY_DO(sys::rename(move.from, path::join(build, move.to)));
  TRY_DO(sys::remove_tree(fetched));
  context.out.note(fmt::format("{} of the artifacts moved to {}", units::things(moves.size(), "name"), build));
  return {};
}

} // namespace quarry::cli::compat
