#include "cli/commands.hpp"
#include "cli/records.hpp"
#include "cli/workflow_trees.hpp"

#include "workflow/graph.hpp"
#include "workflow/lint.hpp"
#include <nlohmann/json.hpp>

namespace quarry::cli {

namespace {

Json graph_document_of(const workflow::Graph& graph, const std::string& directory) {
  Json nodes = Json::array(), edges = Json::array();
  for (const auto& node : graph.nodes)
    nodes.push_back(
        {{"name", node.name}, {"foreign", node.foreign}, {"missing", node.missing}, {"action", node.action}});
  for (const auto& edge : graph.edges)
    edges.push_back({{"from", graph.nodes[edge.from].name},
                     {"to", graph.nodes[edge.to].name},
                     {"kind", edge.dispatch ? "dispatch" : "call"},
                     {"times", edge.times},
                     {"inputs", edge.inputs}});
  return {
      {"directory", directory}, {"nodes", nodes}, {"edges", edges}, {"alone", graph.alone}, {"unknown", graph.unknown}};
}

Result<int> run_graph(Context& context, const Arguments& arguments) {
  TRY(auto tree, workflow::open_directory(workflow_root(arguments)));
  TRY(auto repository, workflow::read_repository(*tree));
  auto graph = workflow::graph_of(repository, {arguments.has("--actions"), {}});
  auto document = graph_document_of(graph, workflow_root(arguments));
  auto format = arguments.get("--format");
  if (format != "json") {
    TRY(auto drawn, format == "svg" ? workflow::svg(graph) : workflow::mermaid(graph));
    context.out.data(drawn);
  }
  Findings unread;
  for (const auto& one : repository.defects) unread.push_back(workflow::to_finding(one));
  context.out.findings(unread);
  document["findings"] = findings_json(unread);
  context.out.document(document, format == "json");
  return has_errors(unread) ? traits(ErrorKind::failed).exit_code : 0;
}
} // namespace

Command workflow_graph_command() {
  return {.path = {"workflow", "graph"},
          .summary = "who calls and dispatches whom, as a picture",
          .description =
              "Draws the workflows of a repository with an edge for each pair in which one calls (`uses:`) or "
              "dispatches the other; dispatches are those that `workflow lint` recognises. An edge names the inputs "
              "that it passes, or their number when there are more than three; the SVG names all of them when the "
              "pointer rests on the edge, the JSON always. Workflows that call nobody and are called by nobody are "
              "counted and not drawn. A workflow of another repository is named and not followed.\n\n"
              "Mermaid is what GitHub renders in Markdown between ```mermaid and ```; it draws at most 500 edges. "
              "Equal files give equal output. Nothing is executed and no network is used.",
          .operands = {{"DIR", "the root of a repository, or a directory of workflow files (default: .)", false}},
          .flags = {{"--format", "F", "svg, Mermaid for GitHub's Markdown, or JSON", {"svg", "mermaid", "json"}, "svg"},
                    {.name = "--actions", .value = "", .help = "draw composite actions of the repository, too"}},
          .examples = {{"quarry workflow graph > calls.svg", "a picture of the repository of the working directory"},
                       {"quarry workflow graph --format mermaid", "for a page or a pull request on GitHub"}},
          .exit_codes = {{1, "a file cannot be read, and is not in the picture"},
                         {3, "no workflow file"},
                         {12, "the graph is too large for the format"}},
          .schema = "quarry.workflow-graph/1",
          .run = run_graph};
}

} // namespace quarry::cli
