#pragma once
// The pump of publishing: content, record, pointer, pages. Killed anywhere, the same command completes it; run twice,
// the second run writes nothing. Readers see what was there before or all of the new, never a page that names what is
// not there.
#include "pages/addresses.hpp"
#include "pages/public_url.hpp"
#include "publish/move.hpp"
#include "publish/plan.hpp"
#include <functional>
#include <string>

namespace quarry::publish {

/// Cache-Control of what never changes: files, metadata files, records.
constexpr std::string_view k_immutable = "public, max-age=31536000, immutable";
constexpr std::string_view k_sidecar_type = "text/plain; charset=utf-8";

struct ExecuteOptions {
  sys::Timestamp now;                                  ///< for seal and ledger
  std::string who, why;                                ///< for the ledger
  unsigned transfers = 4;                              ///< files in flight: their syncs to disk overlap
  std::function<void(std::uint64_t)> on_progress = {}; ///< bytes stored; from any one thread at a time
  pages::PublicUrl public_url = {};                    ///< of the links in the receipt
  std::string derivation = {}; ///< of what the set was made (read_derivation), stored before the seal; empty: nothing
  std::optional<registry::Identity> identity = {}; ///< of this job, for the ledger
};

struct Receipt {
  registry::SetDigest set;
  std::string directory;
  std::size_t files = 0;
  std::uint64_t writes = 0; ///< changes through this store object, so also by other threads that use it
  bool newly_sealed = false;
  std::string find_links_url; ///< the directory's page of links
  pages::Addresses directory_at;
  std::string run_index_url;    ///< of all packages of the run and the base index; empty without one
  std::string group_index_url;  ///< of those of the group; empty if the run has no other group, or one area of it
  std::string channel;          ///< empty without a channel
  registry::ViewDigest view;    ///< none without a channel
  std::uint64_t generation = 0; ///< of the channel
  bool channel_moved = false;
  pages::Addresses channel_at; ///< empty without a channel
  Findings notes;              ///< P050: projects that the base index has, too; P053; P113
};

/// Executes a plan: 1. files and 2. sidecars, if-absent; 3. the set's record, then its seal; 4. the directory's pages,
/// and those merged with the base index; 5. the channel, 6. its pages, likewise. Fails with unsupported R031 before
/// anything is sent if the store cannot keep the channel; then with R008 if a file has changed since it was planned,
/// R009 or R003 if its name got other bytes since, P082 if another job sealed other bytes that this one replaced, the
/// errors of add_sets() (move.hpp) for the channel, P010 if other writers keep changing the pages, and the errors of
/// the store. After any error what was written stays, and the same call completes it. Sends `options.transfers` files
/// at a time.
Result<Receipt> execute(store::ObjectStore& store, const Plan& plan, const ExecuteOptions& options);

/// Returns the number of writes and removals between two readings of a store's counters. Pure.
std::uint64_t writes_between(const store::Counters& before, const store::Counters& after);

} // namespace quarry::publish
