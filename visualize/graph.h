// A counterexample as a picture, by Graphviz: one column an agent, time downwards, only the events that matter.
// Synchronization is solid, a relaxed write that was seen dotted, the order that is missing a dashed red line named by its cause.
#pragma once

#include <string>

#include "visualize/recording.h"
#include "visualize/sources.h"

namespace warpcheck {

// Writes the picture in the format of the path's ending: .svg, .dot, .png or .pdf. Throws InputError for another ending
// and when the file cannot be written.
void write_graph(const Recording& recording, const Sources& sources, const std::string& path);

// The text of the .dot file.
std::string graph_text(const Recording& recording, const Sources& sources);

}  // namespace warpcheck
