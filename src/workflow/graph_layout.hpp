#pragma once
// Private to the room.
// Places of nodes and edges in layers, callers left of callees: layers by the longest path, order by barycentres
// (Sugiyama, Tagawa and Toda, 1981). Pure and deterministic. graph.hpp is the way in.
#include "workflow/graph.hpp"
#include <vector>

namespace quarry::workflow {

constexpr double k_port = 13;      ///< pixels between the ends of two edges at one box: one line of a label
constexpr double k_node_text = 11; ///< font sizes in pixels
constexpr double k_edge_text = 9;

struct Point {
  double x = 0, y = 0;
};

struct BoxPlace {
  double x = 0, y = 0, width = 0, height = 0;
};

/// From the right side of `from` through `via` (each a horizontal stretch behind a layer) to the left side of `to`.
struct EdgePlace {
  Point begin, end;
  double label_width = 0; ///< the last stretch, above which the label stands
  struct Stretch {
    double left = 0, right = 0, y = 0;
  };
  std::vector<Stretch> via;
};

struct Layout {
  std::vector<BoxPlace> boxes;  ///< by node
  std::vector<EdgePlace> edges; ///< by edge
  double width = 0, height = 0;
};

/// Nodes x edges steps.
Layout lay_out(const Graph& graph);

} // namespace quarry::workflow
