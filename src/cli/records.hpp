#pragma once
// Records for people and for programs; shared by the commands that show sets, channels and moves.
#include "base/finding.hpp"
#include "base/json.hpp"
#include "cli/command.hpp"
#include "pages/addresses.hpp"
#include "pages/public_url.hpp"
#include "registry/registry.hpp"
#include "run/locator.hpp"
#include <string>
#include <vector>

namespace quarry::cli {

/// [{project, filename, sha256, size}], in the order given.
Json files_json(const std::vector<registry::FileRecord>& files);
/// {platform, family, python, framework}, and the backend where it is not a GPU.
Json cell_json(const registry::Cell& cell);
/// "linux gfx942 py3.12 torch"; `any` for a cell that names nothing.
std::string cell_text(const registry::Cell& cell, std::string_view any = {});
/// One line each: size, short digest, name.
std::string files_text(const std::vector<registry::FileRecord>& files, Look look);
/// "2026-12-15T18:00:00Z" of an RFC 3339 time in UTC: the microseconds of a record help nobody.
std::string short_time(std::string_view time);
/// A line for each of these sets whose files retention took: records outlive what they are about. Empty if it took
/// none. Three reads for each set.
Result<std::string> retired_text(store::ObjectReader& store, const std::vector<registry::SetDigest>& sets);
/// A channel of which a record is lost or altered, for a command that goes on with the other channels.
Finding unreadable_channel(const std::string& name, const Error& error);
/// [{code, severity, place, message, fix}]
Json findings_json(const Findings& findings);

/// Text for a record that is shown on one line: invalid_argument O009 with a line break or another control character.
Result<void> check_line(std::string_view flag, std::string_view said);
/// Whom the ledger names: the actor of a GitHub job, else USER@HOST ("uid 1000@HOST" without USER and LOGNAME).
std::string who(const Context& context);
/// The page of the job that this is: "https://github.com/OWNER/REPO/actions/runs/42"; empty on a desk.
std::string run_url(const Context& context);
/// `--public-url`, and what it says.
Flag public_url_flag();
/// `--pass-env NAME`, repeated: a variable that installers and tests get besides those of the list.
Flag pass_env_flag();
/// Its names; invalid_argument C006 for several in one value.
Result<std::vector<std::string>> passed_variables(const Arguments& arguments);
/// A flag's "90m", "24h" or "0s" in microseconds; invalid_argument P031.
Result<std::int64_t> duration_us(const Arguments& arguments, const std::string& flag);
Result<pages::PublicUrl> public_url_of(const Arguments& arguments);
/// The lines "index", "merged" and "find-links" of what people install from.
std::string addresses_text(const pages::Addresses& at);
/// null where it is empty.
Json url_json(const std::string& url);
/// Takes lines about requests for `--verbose`; empty without it.
std::function<void(std::string_view)> tracer(const Context& context);
/// Where temporary files may be put: TMPDIR, or /tmp.
std::string temporary_of(const Context& context);
/// The store that `locator` names, with endpoint, region and credentials from this command's environment. A directory
/// that does not exist is not_found C050: a mistyped store must not look like an empty one. Looks at a directory, sends
/// no request.
Result<std::unique_ptr<store::ObjectStore>> open_store(const Context& context, const std::string& locator);
/// The same for commands that may create the store: the directory need not exist.
Result<std::unique_ptr<store::ObjectStore>> open_store_to_write(const Context& context, const std::string& locator);
/// Whether files can be created in a store: invalid_argument R030 for a web server, or the file system's error for a
/// directory (or the parent in which it would be created). Creates and removes an empty directory; sends no request, so
/// a bucket that refuses writes is found later.
Result<void> check_writable(const store::ObjectReader& store, const std::string& locator);
/// "{external_repo}{run_id}-{platform}" of the one run that fits.
Result<std::string> run_prefix(store::ObjectReader& store, const run::Locator& locator);

} // namespace quarry::cli
