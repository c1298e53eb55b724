#pragma once
// Who calls and dispatches whom, as a graph: for people as SVG or Mermaid, for programs as values. Pure.
#include "base/result.hpp"
#include "workflow/model.hpp"
#include <set>
#include <string>
#include <vector>

namespace quarry::workflow {

constexpr std::size_t k_label_names = 3;         ///< more inputs are shown as a number
constexpr std::size_t k_mermaid_edges_max = 500; ///< GitHub's Mermaid refuses a diagram with more (its `maxEdges`)
constexpr std::size_t k_graph_edges_max = 5'000; ///< the layout takes nodes x edges steps

struct GraphNode {
  std::string name;     ///< "build.yml"; "OWNER/REPO/build.yml" when foreign
  bool foreign = false; ///< in another repository: named, not followed
  bool missing = false; ///< a dispatch names it and no file of that name exists
  bool action = false;  ///< a composite action
};

struct GraphEdge {
  std::size_t from = 0, to = 0; ///< indexes of nodes
  bool dispatch = false;
  std::vector<std::string> inputs; ///< names, sorted, each once
  std::size_t times = 0;           ///< calls between the two
};

struct Graph {
  std::vector<GraphNode> nodes; ///< sorted by name
  std::vector<GraphEdge> edges; ///< sorted by from, to, dispatch
  std::size_t alone = 0;        ///< workflows that call nobody and are called by nobody; they are not among the nodes
  std::size_t unknown = 0;      ///< calls whose target an expression makes or a number is
};

struct GraphOptions {
  bool actions = false;       ///< composite actions, too
  std::set<std::string> only; ///< paths: these files, and those that call them or are called by them; empty: all
};

/// Linear in the calls, but for sorting. Equal repositories give equal graphs.
Graph graph_of(const Repository& repository, const GraphOptions& options);

/// "ref, family"; "12 inputs"; "x2: ref" when two jobs call. Empty without inputs.
std::string edge_label(const GraphEdge& edge);

/// A flowchart that GitHub's renderer accepts. resource_exhausted Y160 beyond k_mermaid_edges_max.
Result<std::string> mermaid(const Graph& graph);

/// A picture of layers from left to right: callers left of callees. System fonts, light and dark by CSS, no script.
/// resource_exhausted Y160 beyond k_graph_edges_max.
Result<std::string> svg(const Graph& graph);

} // namespace quarry::workflow
