#include "replicate/launch/detect/elf_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace holdfast::launch {
namespace {

/// An open file with libelf's view of it.
class Reader {
 public:
  explicit Reader(const std::string& path) : file_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0) {
      trouble_ = Status(Code::io, "reading " + path, std::strerror(errno));
      return;
    }
    elf_version(EV_CURRENT);
    elf_ = elf_begin(file_, ELF_C_READ_MMAP, nullptr);
  }
  ~Reader() {
    if (elf_ != nullptr) elf_end(elf_);
    if (file_ >= 0) close(file_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  const Status& trouble() const { return trouble_; }
  bool is_elf() const { return elf_ != nullptr && elf_kind(elf_) == ELF_K_ELF; }
  bool is_script() const {
    std::array<char, 2> start{};
    return pread(file_, start.data(), start.size(), 0) == 2 && start[0] == '#' && start[1] == '!';
  }
  std::string script_command() const {
    std::array<char, 4096> line{};
    const ssize_t got = pread(file_, line.data(), line.size(), 2);
    const std::string_view text(line.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    return std::string(text.substr(0, text.find('\n')));
  }
  Elf* elf() const { return elf_; }

 private:
  int file_;
  Elf* elf_ = nullptr;
  Status trouble_;
};

Status damaged(const std::string& path) {
  const char* why = elf_errmsg(-1);
  return {Code::bad_input, "reading the program " + path,
          std::string("its ELF headers are damaged (") + (why != nullptr ? why : "cut off") + ")", "build it again"};
}

/// DT_SONAME, empty without one.
std::string read_soname(Elf* elf, Elf_Scn* section, const GElf_Shdr& header) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return {};
  for (std::size_t i = 0; i < data->d_size / header.sh_entsize; ++i) {
    GElf_Dyn entry;
    if (gelf_getdyn(data, static_cast<int>(i), &entry) == nullptr) return {};
    if (entry.d_tag != DT_SONAME) continue;
    const char* text = elf_strptr(elf, header.sh_link, entry.d_un.d_val);
    return text != nullptr ? text : "";
  }
  return {};
}

/// The text of PT_INTERP, empty without one; false when a header points outside the file.
bool read_interpreter(Elf* elf, std::string& interpreter) {
  std::size_t headers = 0;
  if (elf_getphdrnum(elf, &headers) != 0) return false;
  std::size_t size = 0;
  const char* bytes = elf_rawfile(elf, &size);
  for (std::size_t i = 0; i < headers; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr) return false;
    if (header.p_type != PT_INTERP) continue;
    if (bytes == nullptr || header.p_offset > size || header.p_filesz > size - header.p_offset) return false;
    std::string_view text(bytes + header.p_offset, header.p_filesz);
    interpreter = text.substr(0, text.find('\0'));
    return true;
  }
  return true;
}

struct Seen {
  bool init = false;
  bool openmpi = false;
  bool ompi_names = false;
  bool libfabric = false;
};

void note_symbol(std::string_view name, bool defined, Seen& seen) {
  if (name == "fi_getinfo") seen.libfabric = true;
  if (name.starts_with("ompi_")) seen.ompi_names = true;
  if (!defined) return;
  if (name == "MPI_Init") seen.init = true;
  if (name == "ompi_mpi_comm_world") seen.openmpi = true;
}

void scan_table(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, Seen& seen) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  std::size_t count = data->d_size / header.sh_entsize;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr) return;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name != nullptr) note_symbol(name, symbol.st_shndx != SHN_UNDEF, seen);
  }
}

}  // namespace

Result<ElfFile> read_elf(const std::string& path) {
  Reader reader(path);
  if (!reader.trouble().ok()) return reader.trouble();
  ElfFile file;
  file.elf = reader.is_elf();
  file.script = reader.is_script();
  if (file.script) file.command = reader.script_command();
  if (!file.elf) return file;
  GElf_Ehdr header;
  if (gelf_getehdr(reader.elf(), &header) == nullptr) return damaged(path);
  file.bits = gelf_getclass(reader.elf()) == ELFCLASS64 ? 64 : 32;
  file.machine = header.e_machine;
  file.executable = header.e_type == ET_EXEC || header.e_type == ET_DYN;
  if (!read_interpreter(reader.elf(), file.interpreter)) return damaged(path);
  return file;
}

std::string machine_text(const ElfFile& file) {
  static constexpr std::array<std::pair<int, const char*>, 6> machines{{{EM_386, "Intel 80386"},
                                                                        {EM_X86_64, "x86-64"},
                                                                        {EM_ARM, "ARM"},
                                                                        {EM_AARCH64, "AArch64"},
                                                                        {EM_PPC64, "PowerPC64"},
                                                                        {EM_RISCV, "RISC-V"}}};
  std::string name = "machine " + std::to_string(file.machine);
  for (const auto& [number, text] : machines)
    if (number == file.machine) name = text;
  return "a " + std::to_string(file.bits) + "-bit program for " + name;
}

Result<MpiSymbols> read_mpi_symbols(const std::string& path) {
  Reader reader(path);
  if (!reader.trouble().ok()) return reader.trouble();
  Seen seen;
  MpiSymbols symbols;
  Elf_Scn* section = nullptr;
  while (reader.is_elf() && (section = elf_nextscn(reader.elf(), section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) return damaged(path);
    if (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB) scan_table(reader.elf(), section, header, seen);
    if (header.sh_type == SHT_DYNAMIC) symbols.soname = read_soname(reader.elf(), section, header);
  }
  symbols.any = seen.init;
  symbols.openmpi = seen.openmpi;
  symbols.ompi_names = seen.ompi_names;
  symbols.libfabric = seen.libfabric;
  return symbols;
}

}  // namespace holdfast::launch
