#include "cli/far_file.hpp"

#include "base/text.hpp"
#include "cli/artifacts.hpp"
#include "cli/records.hpp"
#include "content/spool.hpp"
#include "run/locator.hpp"
#include "sys/clock.hpp"
#include "sys/path.hpp"
#include <fmt/core.h>

namespace quarry::cli {

Result<FarFile> open_in_store(const Context& context, const std::string& store, const std::string& key) {
  TRY(auto objects, open_store(context, store));
  auto place = objects->describe();
  TRY(auto bytes, objects->open(key));
  return FarFile{std::string(path::basename(key)), place + (place.ends_with('/') ? "" : "/") + key, std::move(objects),
                 std::move(bytes)};
}

// s3://bucket/prefix/x.whl: a key in the store that is the rest. A URL is percent-encoded, a key is not.
Result<FarFile> open_far_file(const Context& context, const std::string& given) {
  bool bucket = given.starts_with("s3:");
  auto place = bucket ? given : given.substr(0, given.find('#')); // links of an index end in #sha256=…
  auto slash = place.rfind('/');
  bool query = !bucket && place.find('?') != place.npos;
  if (query || slash < place.find("://") + 3 || slash + 1 == place.size())
    return fail(ErrorKind::invalid_argument, "W017",
                fmt::format("{} is not the address of a file", // a user's name may stand with a password
                            place.find('@') == place.npos ? place.substr(0, place.find('?')) : "…"),
                "give the address of a wheel, without a query: `https://HOST/PATH/NAME.whl`");
  auto key = place.substr(slash + 1);
  return open_in_store(context, place.substr(0, slash), bucket ? key : text::percent_decode(key));
}

Result<FileOperand> file_operand(const Context& context, const std::string& operand) {
  if (is_remote_place(operand)) {
    TRY(auto file, open_far_file(context, operand));
    return FileOperand{std::move(file.place), std::move(file.bytes)};
  }
  if (!operand.starts_with("file:")) return FileOperand{operand, std::nullopt};
  TRY(auto locator, run::parse_locator(operand));
  return FileOperand{std::move(locator.path), std::nullopt};
}

Result<content::Rope> fetched_whole(const Context& context, const content::Rope& far,
                                    const std::function<void(std::uint64_t)>& fetched) {
  TRY(auto spool, content::Spool::create(temporary_of(context)));
  TRY_DO(content::pump(far, [&](std::span<const std::byte> chunk) -> Result<void> {
    TRY_DO(sys::check_interrupted());
    TRY_DO(spool->append(chunk));
    fetched(spool->size());
    return {};
  }));
  return content::Rope::of(spool);
}

} // namespace quarry::cli
