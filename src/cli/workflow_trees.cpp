#include "cli/workflow_trees.hpp"

#include "sys/file.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace quarry::cli {

std::string workflow_root(const Arguments& arguments) {
  return arguments.operands.empty() ? "." : arguments.operands[0];
}

workflow::GitPlace git_place(const Context& context, std::string directory, std::string revision) {
  return {std::move(directory), std::move(revision), context.environment};
}

namespace {
/// A directory (no revision), a bare repository (its HEAD), or DIR@REV.
workflow::GitPlace parsed_place(const Context& context, const std::string& place) {
  if (sys::exists(place + "/objects") && sys::exists(place + "/HEAD")) return git_place(context, place, "HEAD");
  auto at = place.rfind('@');
  if (!sys::is_directory(place) && at != place.npos)
    return git_place(context, place.substr(0, at), place.substr(at + 1));
  return git_place(context, place, "");
}

/// The variable is set in GitHub's own jobs.
std::string server_of(const Context& context) {
  auto found = context.environment.find("GITHUB_SERVER_URL");
  return found == context.environment.end() || found->second.empty() ? "https://github.com" : found->second;
}
} // namespace

Result<Others> others_of(const Context& context, const Arguments& arguments) {
  Others others;
  for (const auto& said : arguments.list("--with")) {
    auto equals = said.find('=');
    auto slash = said.find('/');
    if (equals == said.npos || slash == said.npos || slash > equals || equals + 1 == said.size())
      return fail(ErrorKind::invalid_argument, "C006", fmt::format("--with `{}` is not OWNER/REPO=DIR", said),
                  "write, for example, `--with ROCm/jax=../jax`");
    auto name = said.substr(0, equals);
    auto place = parsed_place(context, said.substr(equals + 1));
    TRY(auto tree, place.revision.empty() ? workflow::open_directory(place.directory) : workflow::open_revision(place),
        "while opening " + name);
    others.by_name[name] = tree.get();
    others.refs.add(name, std::move(place));
    others.trees.push_back(std::move(tree));
  }
  if (arguments.has("--online")) others.refs.ask_server(server_of(context), context.environment);
  return others;
}

Flag online_flag() {
  return {.name = "--online",
          .value = "",
          .help = "ask $GITHUB_SERVER_URL (default: https://github.com) about branches and tags of other repositories"};
}

Flag with_flag() {
  return {.name = "--with",
          .value = "OWNER/REPO=DIR",
          .help = "the files of another repository that is checked out",
          .repeats = true};
}

Json located_json(const workflow::Located& one) {
  auto finding = workflow::to_finding(one);
  return {{"code", one.code},        {"severity", to_string(one.severity)},
          {"file", one.file},        {"line", one.at.line},
          {"column", one.at.column}, {"place", finding.place},
          {"message", one.message},  {"fix", one.fix}};
}

std::vector<PlacedFinding> placed(const std::vector<workflow::Located>& findings) {
  std::vector<PlacedFinding> out;
  for (const auto& one : findings)
    out.push_back({one.code, one.severity, one.file, one.at.line, one.at.column, one.message, one.fix});
  return out;
}

std::size_t count_of(const std::vector<workflow::Located>& findings, Severity severity) {
  return static_cast<std::size_t>(std::count_if(
      findings.begin(), findings.end(), [&](const workflow::Located& one) { return one.severity == severity; }));
}

std::string title_of(const std::map<std::string, Explanation>& codes, const std::string& code) {
  auto found = codes.find(code);
  return found == codes.end() ? std::string() : found->second.title;
}

} // namespace quarry::cli
