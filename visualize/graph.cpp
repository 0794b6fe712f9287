#include "visualize/graph.h"

#include <fmt/format.h>
#include <gvc.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string_view>

#include "visualize/report.h"
#include "visualize/slice.h"

namespace warpcheck {
namespace {

constexpr double kCharacter = 6.2;    // points, of a label's letters
constexpr double kRow = 62, kGap = 46;  // points between rows, and between columns
constexpr size_t kMaxLabel = 48, kMaxSource = 46, kMaxTitle = 90;

using Attributes = std::vector<std::pair<const char*, std::string>>;

// The cgraph library takes non-const strings and copies them.
char* text(const std::string& s) { return const_cast<char*>(s.c_str()); }
char* text(const char* s) { return const_cast<char*>(s); }

std::string escaped(const std::string& raw) {
  std::string result;
  for (const char c : raw) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return result;
}

// Broken at spaces into lines of at most `limit` bytes, where words allow.
std::vector<std::string> wrapped(const std::string& sentence, size_t limit) {
  std::vector<std::string> lines(1);
  for (size_t begin = 0; begin < sentence.size();) {
    const size_t end = std::min(sentence.find(' ', begin), sentence.size());
    const std::string word = sentence.substr(begin, end - begin);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > limit) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return lines;
}

struct CloseGraph {
  void operator()(Agraph_t* graph) const { agclose(graph); }
};
using GraphPointer = std::unique_ptr<Agraph_t, CloseGraph>;

// A label of several lines: bold ones, then small grey ones.
struct Label {
  std::string marker;   // "(1) async write", in the marked colour
  std::string bold;
  std::vector<std::string> small;

  double points() const {
    size_t longest = std::max(marker.size(), bold.size());
    for (const std::string& line : small) longest = std::max(longest, line.size() * 9 / 10);
    return kCharacter * static_cast<double>(longest) + 20;
  }

  std::string html() const {
    std::string result;
    if (!marker.empty()) result += fmt::format("<font color=\"#b00020\"><b>{}</b></font><br/>", escaped(marker));
    result += fmt::format("<b>{}</b>", bold.empty() ? " " : escaped(bold));
    for (const std::string& line : small) {
      result += fmt::format("<br/><font point-size=\"9\" color=\"#555555\">{}</font>", escaped(line));
    }
    return result;
  }
};

class Picture {
 public:
  Picture(const Recording& recording, const Sources& sources)
      : recording_(recording), sources_(sources), slice_(make_slice(recording)),
        graph_(agopen(text("counterexample"), Agstrictdirected, nullptr)) {
    defaults();
    title();
    name_columns();
    label_events();
    place_columns();
    draw_columns();
    draw_edges();
  }

  Agraph_t* graph() const { return graph_.get(); }

 private:
  struct Row {
    Label label;
    AgentId agent;
    size_t event;  // kNone: an agent that waits
    bool marked;
  };

  void set(void* object, const Attributes& attributes) {
    for (const auto& [key, value] : attributes) {
      if (std::string(key) == "label" && value.starts_with('<')) {
        char* html = agstrdup_html(graph(), text(value.substr(1, value.size() - 2)));
        agsafeset(object, text(key), html, text(""));
        agstrfree(graph(), html);
      } else {
        agsafeset(object, text(key), text(value), text(""));
      }
    }
  }

  Agnode_t* node(const std::string& name, const std::string& label, double x, double y, const Attributes& attributes) {
    Agnode_t* result = agnode(graph(), text(name), 1);
    set(result, {{"label", label}, {"pos", fmt::format("{:.0f},{:.0f}!", x, -y)}});
    set(result, attributes);
    return result;
  }

  void edge(const std::string& from, const std::string& to, const Attributes& attributes) {
    Agedge_t* result = agedge(graph(), agnode(graph(), text(from), 0), agnode(graph(), text(to), 0), text(""), 1);
    set(result, attributes);
  }

  void defaults() {
    const auto attribute = [&](int kind, const char* key, const char* value) {
      agattr(graph(), kind, text(key), text(value));
    };
    attribute(AGRAPH, "splines", "true");
    attribute(AGRAPH, "outputorder", "edgesfirst");
    attribute(AGRAPH, "fontname", "Helvetica");
    attribute(AGRAPH, "labelloc", "t");
    attribute(AGRAPH, "pad", "0.2");
    attribute(AGNODE, "shape", "box");
    attribute(AGNODE, "style", "filled,rounded");
    attribute(AGNODE, "fillcolor", "white");
    attribute(AGNODE, "color", "#888888");
    attribute(AGNODE, "fontname", "Helvetica");
    attribute(AGNODE, "fontsize", "11");
    attribute(AGNODE, "margin", "0.08,0.04");
    attribute(AGEDGE, "fontname", "Helvetica");
    attribute(AGEDGE, "fontsize", "11");
  }

  void title() {
    const Finding& finding = recording_.finding;
    std::string label = fmt::format("<b>{}</b>: {}<br/>", escaped(recording_.kernel), escaped(headline(finding)));
    for (const std::string& clause : clauses(explanation(recording_, slice_))) {
      for (const std::string& line : wrapped(clause, kMaxTitle)) {
        label += fmt::format("<font point-size=\"11\">{}</font><br/>", escaped(line));
      }
    }
    set(graph(), {{"label", fmt::format("<{} >", label)}, {"fontsize", "15"}});
  }

  const Site& site(SiteId id) const {
    static const Site kUnknown;
    return id != kNoSite && index(id) < recording_.sites.size() ? recording_.sites[index(id)] : kUnknown;
  }

  std::vector<std::string> small_lines(SiteId id) const {
    std::vector<std::string> lines;
    const std::string where = place(site(id)), source = sources_.text(best_line(site(id)), kMaxSource);
    if (!where.empty()) lines.push_back(where);
    if (!source.empty()) lines.push_back(source);
    return lines;
  }

  std::string role(size_t site) const {
    return fmt::format("({}) {}", site + 1, recording_.finding.sites[site].role);
  }

  void label_events() {
    for (const size_t event : slice_.events) {
      const RecordedEvent& e = recording_.events[event];
      const std::string words = short_instructions(event_words(recording_, slice_, event, heads_[e.agent]));
      Row row{{"", shortened(words, kMaxLabel), small_lines(e.site)}, e.agent, event, false};
      for (size_t i = 0; i < slice_.marked.size(); ++i) {
        if (slice_.marked[i] != event) continue;
        row.marked = true;
        row.label.marker = row.label.marker.empty() ? role(i) : row.label.marker + ", " + role(i);
      }
      rows_.push_back(std::move(row));
    }
    for (const Slice::Waiter& waiter : slice_.waiters) {
      const SiteId at = recording_.finding.sites[waiter.site].site;
      rows_.push_back({{role(waiter.site), short_instruction(site(at).instruction), small_lines(at)}, waiter.agent, Slice::kNone, true});
    }
  }

  void name_columns() {
    const std::vector<std::string> names = column_names(recording_, slice_);
    for (size_t i = 0; i < names.size(); ++i) heads_[slice_.columns[i]] = names[i];
  }

  void place_columns() {
    double left = 0;
    for (const AgentId agent : slice_.columns) {
      double wide = kCharacter * 1.2 * static_cast<double>(heads_[agent].size());
      for (const Row& row : rows_) {
        if (row.agent == agent) wide = std::max(wide, row.label.points());
      }
      x_[agent] = left + wide / 2;
      left += wide + kGap;
    }
  }

  void draw_columns() {
    std::map<AgentId, std::string> above;
    for (const AgentId agent : slice_.columns) {
      above[agent] = fmt::format("agent{}", index(agent));
      node(above[agent], fmt::format("<<b>{}</b>>", escaped(heads_[agent])), x_[agent], 0,
           {{"shape", "plaintext"}, {"style", ""}, {"fillcolor", "none"}, {"fontsize", "13"}});
    }
    for (size_t i = 0; i < rows_.size(); ++i) {
      const Row& row = rows_[i];
      names_.push_back(row.event == Slice::kNone ? fmt::format("wait{}", i) : event_name(row.event));
      Attributes look;
      if (row.marked) look = {{"fillcolor", "#fde7e9"}, {"color", "#b00020"}, {"penwidth", "2"}};
      node(names_[i], fmt::format("<{}>", row.label.html()), x_[row.agent], kRow * static_cast<double>(i + 1), look);
      edge(above[row.agent], names_[i], {{"color", "#cccccc"}, {"arrowhead", "none"}, {"style", "dotted"}});
      above[row.agent] = names_[i];
    }
  }

  static std::string event_name(size_t event) { return fmt::format("event{}", event + 1); }

  void draw_edges() {
    for (const Slice::Edge& link : slice_.edges) {
      const bool birth = link.birth;
      edge(event_name(link.from), event_name(link.to),
           birth          ? Attributes{{"color", "#666666"}, {"style", "dashed"}, {"arrowhead", "empty"}}
           : link.relaxed ? Attributes{{"color", "#9a6b00"}, {"style", "dotted"}, {"penwidth", "2"}}
                          : Attributes{{"color", "#1f5fbf"}, {"penwidth", "1.6"}});
    }
    const Finding& finding = recording_.finding;
    if (!is_pair(finding) || slice_.marked[0] == Slice::kNone || slice_.marked[1] == Slice::kNone) return;
    const auto [from, to] = std::minmax(slice_.marked[0], slice_.marked[1]);
    if (from == to) return;
    const std::string label = finding.cause == Cause::kNone ? name(finding.kind) : name(finding.cause);
    edge(event_name(from), event_name(to),
         {{"color", "#d00020"}, {"style", "dashed"}, {"penwidth", "2.2"}, {"fontcolor", "#b00020"},
          {"label", fmt::format("<<b>{}</b>>", escaped(label))}, {"arrowhead", "none"}});
  }

  const Recording& recording_;
  const Sources& sources_;
  Slice slice_;
  GraphPointer graph_;
  std::vector<Row> rows_;
  std::vector<std::string> names_;
  std::map<AgentId, double> x_;
  std::map<AgentId, std::string> heads_;
};

struct CloseFile {
  void operator()(FILE* file) const { std::fclose(file); }
};

void write_dot(Agraph_t* graph, FILE* file) { agwrite(graph, file); }

// Graphviz's context for the whole process: the text plugin keeps the last font's name, which a context owns, and would
// read it after the context is freed.
GVC_t* context() {
  static GVC_t* const kContext = gvContext();
  return kContext;
}

void render(Agraph_t* graph, const std::string& format, FILE* file, const std::string& path) {
  if (gvLayout(context(), graph, "nop") != 0) throw InputError(path, 0, "Graphviz could not lay the picture out");
  const int failed = gvRender(context(), graph, format.c_str(), file);
  gvFreeLayout(context(), graph);
  if (failed != 0) throw InputError(path, 0, fmt::format("Graphviz cannot write the format {} here", format));
}

}  // namespace

void write_graph(const Recording& recording, const Sources& sources, const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  constexpr std::array<std::string_view, 4> kEndings = {".svg", ".dot", ".png", ".pdf"};
  if (std::find(kEndings.begin(), kEndings.end(), ending) == kEndings.end()) {
    throw InputError(path, 0, fmt::format("found ending '{}', expected one of .svg, .dot, .png, .pdf", ending));
  }
  const Picture picture(recording, sources);
  const std::unique_ptr<FILE, CloseFile> file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr) throw InputError(path, 0, "cannot be written");
  if (ending == ".dot") {
    write_dot(picture.graph(), file.get());
  } else {
    render(picture.graph(), ending.substr(1), file.get(), path);
  }
}

std::string graph_text(const Recording& recording, const Sources& sources) {
  const Picture picture(recording, sources);
  char* buffer = nullptr;
  size_t size = 0;
  FILE* stream = open_memstream(&buffer, &size);
  if (stream == nullptr) return "";
  write_dot(picture.graph(), stream);
  std::fclose(stream);
  std::string result(buffer, size);
  std::free(buffer);
  return result;
}

}  // namespace warpcheck
