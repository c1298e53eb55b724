#pragma once
// Private to the room.
// Keeps of a member what thinning needs while the member is inflated once: of a library for seven targets, the code for
// six of them is not kept.
#include "content/excerpt.hpp"
#include "gpu/unneeded.hpp"
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::wheel {

class ThinExcerpt {
public:
  struct Whole {
    std::uint64_t size = 0; ///< of the member
    bool all = false;       ///< keep everything
  };
  /// `devices` must live as long as this.
  ThinExcerpt(std::shared_ptr<content::Spool> spool, const std::vector<std::string>& devices, Whole whole)
      : devices_(devices), whole_(whole), kept_(std::make_shared<content::Excerpt>(std::move(spool))) {}
  /// The next bytes of the member. Fails as Spool::append() does.
  Result<void> feed(std::span<const std::byte> bytes);
  /// After the last feed(). Fails as Spool::append() does.
  Result<std::shared_ptr<content::Excerpt>> finish();

private:
  Result<void> take_pages(std::string_view pages);
  bool is_needed(std::string_view page);

  const std::vector<std::string>& devices_;
  Whole whole_;
  std::shared_ptr<content::Excerpt> kept_;
  std::string partial_;        ///< of the page that is not complete yet
  gpu::Unneeded bundle_ = {};  ///< the bundle that flows by; its places are the member's
  std::size_t next_range_ = 0; ///< of `bundle_`: those before it have flowed by
  std::uint64_t at_ = 0;       ///< where the next page begins
};

} // namespace quarry::wheel
