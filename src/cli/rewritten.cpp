#include "cli/rewritten.hpp"

#include "base/units.hpp"
#include "cli/sizes.hpp"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

Result<int> run_rewriting(Context& context, const Rewriting& rewriting) {
  auto progress = context.out.progress("copying", bytes_of_files({rewriting.path}));
  TRY(auto written, rewriting.write([&](std::uint64_t done) { progress->update(done); }));
  progress->finish();
  context.out.note(fmt::format("copied {}; {}", units::bytes(written.size), rewriting.outcome));
  context.out.data(written.path + "\n");
  context.out.document(
      {{"schema", rewriting.schema}, {"path", written.path}, {"filename", written.file_name}, {"size", written.size}});
  return 0;
}

} // namespace quarry::cli
