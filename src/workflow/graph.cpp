#include "workflow/graph.hpp"

#include "base/text.hpp"
#include "base/units.hpp"
#include "sys/path.hpp"
#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <tuple>

namespace quarry::workflow {

namespace {

/// "OWNER/REPO/.github/workflows/build.yml@REF" -> "OWNER/REPO/build.yml".
std::string foreign_name(const std::string& target) {
  auto path = target.substr(0, target.find('@'));
  auto parts = path::components(path);
  if (parts.size() < 3) return path;
  return fmt::format("{}/{}/{}", parts[0], parts[1], parts.back());
}

std::string file_name(const File& file) {
  return file.action ? std::string(path::basename(path::dirname(file.path))) : file.basename();
}

class Builder {
public:
  Builder(const Repository& repository, const GraphOptions& options) : repository_(repository), options_(options) {}

  Graph build() {
    for (const auto& file : repository_.files) {
      if (file->action && !options_.actions) continue;
      if (options_.only.contains(file->path)) node({file_name(*file), false, false, file->action});
      for (const auto& call : file->calls) add(*file, call);
    }
    return sorted();
  }

private:
  using Key = std::tuple<std::string, std::string, bool>;

  void node(GraphNode one) { nodes_.emplace(one.name, one); }

  GraphNode target_of(const Call& call) const {
    const auto* file = call.file.empty() ? nullptr : repository_.find(call.file);
    if (file) return {file_name(*file), false, false, file->action};
    return {call.foreign ? foreign_name(call.target) : std::string(path::basename(call.target)), call.foreign,
            !call.foreign, call.kind == Call::Kind::action};
  }

  void add(const File& file, const Call& call) {
    if (call.kind == Call::Kind::action && (!options_.actions || call.file.empty())) return;
    if (call.unknown) {
      ++graph_.unknown;
      return;
    }
    if (!options_.only.empty() && !options_.only.contains(file.path) && !options_.only.contains(call.file)) return;
    GraphNode from{file_name(file), false, false, file.action};
    auto to = target_of(call);
    node(from);
    node(to);
    auto& edge = edges_[{from.name, to.name, call.kind == Call::Kind::dispatch}];
    ++edge.times;
    for (const auto& argument : call.arguments) edge.inputs.push_back(argument.name);
  }

  Graph sorted() {
    std::map<std::string, std::size_t> index;
    for (const auto& [name, one] : nodes_) {
      index[name] = graph_.nodes.size();
      graph_.nodes.push_back(one);
    }
    for (auto& [key, edge] : edges_) {
      edge.from = index[std::get<0>(key)];
      edge.to = index[std::get<1>(key)];
      edge.dispatch = std::get<2>(key);
      std::sort(edge.inputs.begin(), edge.inputs.end());
      edge.inputs.erase(std::unique(edge.inputs.begin(), edge.inputs.end()), edge.inputs.end());
      graph_.edges.push_back(std::move(edge));
    }
    for (const auto& file : repository_.files)
      if (!file->action && options_.only.empty() && !index.contains(file_name(*file))) ++graph_.alone;
    return std::move(graph_);
  }

  const Repository& repository_;
  const GraphOptions& options_;
  Graph graph_;
  std::map<std::string, GraphNode> nodes_;
  std::map<Key, GraphEdge> edges_;
};

/// Mermaid ends a quoted label at a quote and reads `#35;` as a character.
std::string mermaid_text(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '#' || c == '<' || c == '>' || c == '&' || c == '`')
      out += fmt::format("#{};", static_cast<int>(c));
    else
      out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

std::string note_of(const GraphNode& node) {
  return node.missing ? " (does not exist)" : node.foreign ? " (another repository)" : node.action ? " (action)" : "";
}
} // namespace

Graph graph_of(const Repository& repository, const GraphOptions& options) {
  return Builder(repository, options).build();
}

std::string edge_label(const GraphEdge& edge) {
  auto label =
      edge.inputs.size() > k_label_names ? units::things(edge.inputs.size(), "input") : text::join(edge.inputs, ", ");
  if (edge.times < 2) return label;
  return label.empty() ? fmt::format("x{}", edge.times) : fmt::format("x{}: {}", edge.times, label);
}

Result<std::string> mermaid(const Graph& graph) {
  if (graph.edges.size() > k_mermaid_edges_max)
    return fail(ErrorKind::resource_exhausted, "Y160",
                fmt::format("the graph has {} edges; GitHub's Mermaid draws at most {}", graph.edges.size(),
                            k_mermaid_edges_max),
                "use `--format svg`");
  std::string out = "flowchart LR\n";
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    out += fmt::format("  n{}[\"{}{}\"]\n", i, mermaid_text(graph.nodes[i].name), note_of(graph.nodes[i]));
  for (const auto& edge : graph.edges) {
    auto label = mermaid_text(edge_label(edge));
    out += fmt::format("  n{} {}{} n{}\n", edge.from, edge.dispatch ? "-.->" : "-->",
                       label.empty() ? "" : "|\"" + label + "\"|", edge.to);
  }
  return out;
}

} // namespace quarry::workflow
