#pragma once
// Private to the room.
// What rewrites share: the members that stay as they are stored, the files that are new, and RECORD.
#include "wheel/opened.hpp"
#include "wheel/rewrite.hpp"
#include "zip/writer.hpp"
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace quarry::wheel {

struct RewrittenFiles {
  std::vector<const zip::Member*> kept;
  std::vector<zip::Entry> added; ///< RECORD is the last
};

/// A new file, by its path in the wheel.
using NewFile = std::pair<std::string, std::string>;

/// All members but RECORD, its signatures and those that a new file replaces; then the new files and RECORD. Fails with
/// W010 if RECORD does not list a member that stays.
Result<RewrittenFiles> files_after(const Opened& wheel, const std::vector<NewFile>& files, const std::string& path);

/// The rules for wheels, on the texts of dist-info; the files themselves are not looked at.
Result<void> check_files_after(const Opened& wheel, const RewrittenFiles& files, const std::string& file_name);

/// Writes `output_dir`/`file_name`, atomically.
Result<Rewritten> write_files_after(const Opened& wheel, RewrittenFiles files, const Rewritten& target,
                                    const std::function<void(std::uint64_t)>& on_progress);

} // namespace quarry::wheel
