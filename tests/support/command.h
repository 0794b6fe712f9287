// Runs a program as a user would, for tests: its output, its errors, its exit code.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace warpcheck::testing {

struct Outcome {
  int exit_code = -1;  // -1: ended by a signal
  std::string out, err;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// A folder of its own for a test, gone afterwards.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "warpcheck-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

// Runs the program in `folder`. With `interrupt_after`, it gets SIGINT so many milliseconds after its start.
inline Outcome run(const std::string& program, const std::vector<std::string>& arguments,
                   const std::filesystem::path& folder, int interrupt_after = 0) {
  const Folder capture;
  const std::string out = capture / "out", err = capture / "err";
  const pid_t child = fork();
  if (child == 0) {
    if (chdir(folder.c_str()) != 0 || freopen("/dev/null", "r", stdin) == nullptr ||
        freopen(out.c_str(), "w", stdout) == nullptr || freopen(err.c_str(), "w", stderr) == nullptr) {
      _exit(127);
    }
    std::vector<char*> argv{const_cast<char*>(program.c_str())};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  if (interrupt_after > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(interrupt_after));
    kill(child, SIGINT);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(out), read_file(err)};
}

}  // namespace warpcheck::testing
