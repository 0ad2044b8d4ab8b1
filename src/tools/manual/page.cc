#include "manual/page.h"

#include <algorithm>
#include <utility>

#include "manual/pages/pages.h"

namespace gdr::manual {

const std::vector<Page>& all_pages() {
  static const std::vector<Page> pages = [] {
    std::vector<Page> all;
    for (const auto pages_of :
         {gdr_pages, prove_pages, topo_pages, list_pages, doctor_pages, fix_pages, peermem_pages,
          explain_pages, perf_pages, run_pages, watch_pages, fabric_pages, mpi_pages, mpi_run_pages,
          nccl_pages, counters_pages}) {
      for (Page& page : pages_of()) all.push_back(std::move(page));
    }
    return all;
  }();
  return pages;
}

const Page* find_page(std::string_view name) {
  const std::vector<Page>& pages = all_pages();
  const auto found =
      std::find_if(pages.begin(), pages.end(), [&](const Page& page) { return name == page.name; });
  return found == pages.end() ? nullptr : &*found;
}

}  // namespace gdr::manual
