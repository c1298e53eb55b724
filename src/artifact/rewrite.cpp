#include "artifact/rewrite.hpp"

#include "base/codes.hpp"
#include <fmt/core.h>

namespace quarry::artifact {

namespace {

constexpr std::uint64_t k_standing_page_bytes_max = 64u << 20;
constexpr unsigned k_rounds_max = 20; // each round is lost to another job that wrote the page: fewer jobs end at once

bool may_be_repeated(const Error& error) {
  return error.kind == ErrorKind::precondition_failed || error.kind == ErrorKind::outcome_unknown ||
         error.is(codes::object_exists);
}

} // namespace

Result<bool> rewrite(const UploadPlace& place, const std::string& key,
                     const std::function<Result<std::string>(const std::optional<std::string>&)>& make) {
  std::optional<std::string> before;
  Error last; // of the write before
  for (unsigned round = 0; round < k_rounds_max; ++round) {
    std::string etag;
    TRY(auto standing, place.store.get(key, k_standing_page_bytes_max, &etag));
    TRY(auto wanted, make(standing));
    if (standing && *standing == wanted) return false;
    bool lost = last.kind == ErrorKind::outcome_unknown && standing == before;
    if (lost) return fail(std::move(last)); // the store has tried as often as it does
    before = standing;
    store::PutOptions options;
    options.content_type = content_type_of(key);
    options.cache_control = k_short;
    if (place.conditional)
      options.precondition = standing ? store::Precondition::if_match(etag) : store::Precondition::if_absent();
    auto put = place.store.put(key, content::Rope::literal(wanted), options);
    if (put) return true;
    if (!may_be_repeated(put.error())) return fail(std::move(put).error());
    last = std::move(put).error();
  }
  return fail(ErrorKind::precondition_failed, "R003", fmt::format("`{}` changes faster than it can be written", key),
              "run the command again");
}

} // namespace quarry::artifact
