#include "publish/outputs.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "dist/family.hpp"
#include "pages/install_words.hpp"
#include "pages/merged.hpp"
#include "run/layout.hpp"
#include <algorithm>
#include <fmt/core.h>

namespace quarry::publish {

std::string github_outputs(const Receipt& receipt) {
  std::string text;
  auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) text += fmt::format("{}={}\n", name, value);
  };
  add("package_find_links_url", receipt.find_links_url);
  add("package_index_url", receipt.directory_at.index_url);
  add("package_set", receipt.set.hex());
  add("package_merged_index_url", receipt.directory_at.merged_url);
  add("run_merged_index_url", receipt.run_index_url);
  add("group_merged_index_url", receipt.group_index_url);
  if (receipt.channel.empty()) return text;
  add("channel_index_url", receipt.channel_at.index_url);
  add("channel_find_links_url", text::join(receipt.channel_at.find_links, " "));
  add("channel_merged_index_url", receipt.channel_at.merged_url);
  add("channel_generation", std::to_string(receipt.generation));
  return text;
}

namespace {

/// The line of today's jobs: the page of links beside the index that the user's own pip knows, which has what the
/// packages depend on.
std::string line_of_links(const Plan& plan, const Receipt& receipt) {
  return fmt::format("pip install {} --find-links={}", pages::install_words(plan.set.files), receipt.find_links_url);
}

/// For those who know their GPU: one package of device code and not all of them.
std::string device_note(const Plan& plan) {
  std::vector<std::string> extras;
  for (const auto& file : plan.set.files)
    if (auto target = dist::target_of_device_code(file.project); !target.empty())
      extras.push_back("`device-" + target + "`");
  if (extras.size() < 2) return "";
  return fmt::format("In the place of `device-all`, name the GPU target that you have: {}.\n\n",
                     text::join(extras, ", "));
}

} // namespace

pages::Addresses widest(const Receipt& receipt) {
  if (!receipt.channel.empty()) return receipt.channel_at;
  auto at = receipt.directory_at;
  auto of_run = pages::merged_directory(run::run_of(receipt.directory));
  auto leaves_out = [&](const Finding& note) { return note.place == of_run; };
  if (!receipt.run_index_url.empty() && std::ranges::none_of(receipt.notes, leaves_out))
    at.merged_url = receipt.run_index_url;
  if (!receipt.group_index_url.empty()) at.merged_url = receipt.group_index_url;
  return at;
}

std::string step_summary(const Plan& plan, const Receipt& receipt) {
  std::uint64_t bytes = 0;
  for (const auto& file : plan.set.files) bytes += file.size;
  auto text =
      fmt::format("[Python packages]({}): {}, {}, {}.\n\n```bash\n{}\n```\n\n", receipt.find_links_url,
                  units::things(plan.set.files.size(), "file"), units::bytes(bytes),
                  receipt.set.empty() ? "not published: a dry run" : fmt::format("sealed as `set:{}`", receipt.set),
                  line_of_links(plan, receipt));
  text += device_note(plan);
  text += fmt::format("From the index of these packages alone:\n\n```bash\n{}\n```\n\n",
                      pages::install_line(plan.set, receipt.directory_at));
  if (auto of_run = widest(receipt); receipt.channel.empty() && of_run.merged_url != receipt.directory_at.merged_url)
    text += fmt::format("Together with the other areas of the run:\n\n```bash\n{}\n```\n\n",
                        pages::install_line(plan.set, of_run));
  if (!receipt.channel.empty())
    text += fmt::format("Channel `{}` is at generation {}:\n\n```\n{}\n```\n\n", receipt.channel, receipt.generation,
                        pages::install_line(plan.set, receipt.channel_at));
  return text;
}

} // namespace quarry::publish
