#include "visualize/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <tuple>

namespace warpcheck {
namespace {

std::string file_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

std::string trimmed(const std::string& line) {
  const size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  std::string text = line.substr(first, line.find_last_not_of(" \t\r") + 1 - first);
  const size_t comment = text.find(" //");
  if (comment != std::string::npos) text = text.substr(0, text.find_last_not_of(' ', comment) + 1);
  return text;
}

}  // namespace

std::string shortened(const std::string& text, size_t limit) {
  if (text.size() <= limit) return text;
  size_t cut = limit < 3 ? 0 : limit - 3;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0U) == 0x80) --cut;
  return text.substr(0, cut) + "...";
}

const SourceLine& best_line(const Site& site) { return site.inlined_at.empty() ? site.at : site.inlined_at.back(); }

std::string place(const Site& site) {
  const SourceLine& line = best_line(site);
  if (line.file.empty()) return line.line == 0 ? "" : fmt::format("line {}", line.line);
  return fmt::format("{}:{}", file_name(line.file), line.line);
}

std::string inlining(const Site& site) {
  if (site.inlined_at.empty()) return "";
  std::string text = fmt::format("{}:{}", file_name(site.at.file), site.at.line);
  for (const SourceLine& line : site.inlined_at) {
    text += fmt::format(", inlined at {}:{}", file_name(line.file), line.line);
  }
  return text;
}

std::string short_instruction(const std::string& instruction) {
  size_t end = 0;
  for (int part = 0; part < 3 && end != std::string::npos; ++part) end = instruction.find('.', end + 1);
  return instruction.substr(0, end);
}

std::string short_instructions(const std::string& text) {
  std::string result;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const bool opcode = word.size() > 12 && std::islower(static_cast<unsigned char>(word[0])) != 0 &&
                        word.find('[') == std::string::npos;
    result += opcode ? short_instruction(word) : word;
    if (end < text.size()) result += ' ';
    begin = end + 1;
  }
  return result;
}

std::string line_ranges(std::vector<SourceLine> lines) {
  for (SourceLine& line : lines) line.file = file_name(line.file);
  const auto key = [](const SourceLine& line) { return std::tie(line.file, line.line); };
  std::sort(lines.begin(), lines.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::string text;
  for (size_t i = 0; i < lines.size();) {
    size_t last = i;
    while (last + 1 < lines.size() && lines[last + 1].file == lines[i].file &&
           lines[last + 1].line <= lines[last].line + 1) {
      ++last;
    }
    if (!text.empty()) text += ", ";
    text += fmt::format("{}:{}", lines[i].file, lines[i].line);
    if (lines[last].line != lines[i].line) text += fmt::format("-{}", lines[last].line);
    i = last + 1;
  }
  return text;
}

std::string Sources::text(const SourceLine& line, size_t limit) const {
  if (line.file.empty() || line.line == 0) return "";
  const std::vector<std::string>& lines = find(line.file).lines;
  return line.line <= lines.size() ? shortened(trimmed(lines[line.line - 1]), limit) : "";
}

std::string Sources::path(const std::string& file) const {
  if (file.empty()) return "";
  const std::string& found = find(file).path;
  return found.empty() ? file : found;
}

const Sources::File& Sources::find(const std::string& file) const {
  const auto [entry, fresh] = files_.try_emplace(file);
  if (!fresh) return entry->second;
  for (const std::string& folder : folders_) {
    for (const std::string& name : {file, file_name(file)}) {
      const std::filesystem::path path = std::filesystem::path(folder) / name;
      std::error_code ignored;
      if (!std::filesystem::is_regular_file(path, ignored)) continue;
      std::ifstream stream(path);
      entry->second.path = path.lexically_normal().string();
      for (std::string line; std::getline(stream, line);) entry->second.lines.push_back(line);
      return entry->second;
    }
  }
  return entry->second;
}

}  // namespace warpcheck
