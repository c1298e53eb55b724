#pragma once
// Waivers without which a set would not have come into a channel. Kept among the JSON fields of the view
// (docs/formats/records.md, "waived"), so that pages can name them without another read, and a rollback brings the list
// of its time back. Pure.
#include "registry/records.hpp"
#include <compare>
#include <string>
#include <vector>

namespace quarry::registry {

struct Waived {
  SetDigest set;       ///< that was judged; the view shows it or a part of it
  WaiverDigest waiver; ///< suite, approver, reason and expires are copied from its record
  std::string suite;   ///< empty: every suite
  std::string approver, reason;
  std::string expires;                    ///< a time
  std::vector<std::string> cells = {};    ///< that the waiver made ready, as words_of() has them; sorted
  std::vector<std::string> projects = {}; ///< whose files these cells install; sorted
  auto operator<=>(const Waived&) const = default;
};

/// "linux gfx942 py3.12 torch": what the cell says, in this order; empty for a cell that says nothing.
std::string words_of(const Cell& cell);
/// "lead waived smoke on linux gfx942 until 2026-11-21T12:00:00Z: no machine", with the first three cells.
std::string sentence_of(const Waived& waived);

/// Sorted. Entries that are not such objects, or lack a set or a waiver, are left out; none for the view of an older
/// program.
std::vector<Waived> waived_of(const ViewRecord& view);
/// Replaces the list: sorted, each once; an empty one leaves no field. Text that is not UTF-8 changes nothing.
void set_waived(ViewRecord& view, std::vector<Waived> waived);

} // namespace quarry::registry
