"""The page of gdr perf in headless Chromium: page.py PERF_SAMPLE_PAGE FOLDER.

No line on the console, the page's own title, each curve's colour on its canvas, in the light and the
dark scheme. Screenshots for a person to look at stay in FOLDER: light, dark, narrow, and a PDF.
"""
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from browser import browse, chromium

# Runs after the page's own scripts, in a copy of the page: what each canvas shows.
PROBE = """<script>setTimeout(() => {
  const charts = [...document.querySelectorAll('canvas')].map((canvas) => {
    const chart = Chart.getChart(canvas);
    const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    const counts = new Map();
    for (let i = 0; i < pixels.length; i += 4) {
      if (pixels[i + 3] !== 255) continue;
      const colour = '#' + [0, 1, 2].map((c) => pixels[i + c].toString(16).padStart(2, '0')).join('');
      counts.set(colour, (counts.get(colour) || 0) + 1);
    }
    return {
      heading: canvas.closest('figure').querySelector('figcaption').firstChild.textContent,
      wide: canvas.clientWidth,
      sets: chart.data.datasets.map((set) => ({
        label: set.label, colour: set.borderColor, points: set.data.length, limit: Boolean(set.limit),
        shown: counts.get(set.borderColor) || 0})),
    };
  });
  const probe = document.createElement('pre');
  probe.id = 'probe';
  probe.textContent = JSON.stringify({
    title: document.title, charts, wide: document.documentElement.scrollWidth,
    window: innerWidth});
  document.body.append(probe);
}, 300)</script></body>"""

FAILED = []


def expect(claim, message):
    if not claim:
        FAILED.append(message)


class Browser:
    def __init__(self, folder):
        self._program = chromium()
        self._folder = folder

    def run(self, page, *options):
        """Standard output, and the lines that the page wrote to the console."""
        output, console, problem = browse(self._program, page, *options)
        expect(not problem, problem)
        return output, console

    def probe(self, page, *options):
        with_probe = self._folder / f"probed-{page.name}"
        text = page.read_text()
        expect(text.count("</body>") == 1, "the page has one end")
        with_probe.write_text(text.replace("</body>", PROBE))
        dom, console = self.run(with_probe, "--dump-dom", *options)
        expect(console == [], f"{page.name}: the console says {console}")
        found = re.search(r'<pre id="probe">(.*?)</pre>', dom, re.S)
        if not found:
            FAILED.append(f"{page.name}: its scripts did not run to the end: {dom[-500:]}")
            return {"title": "", "charts": [], "wide": 0, "window": 0}
        return json.loads(found[1].replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&"))


DARK = ("--blink-settings=preferredColorScheme=0",)


def check_charts(name, probed):
    for chart in probed["charts"]:
        for curve in chart["sets"]:
            where = f"{name}: {chart['heading']}: {curve['label']}"
            expect(curve["points"] > 0, f"{where} has no points")
            expect(curve["shown"] >= 5, f"{where} is not on the canvas")
    expect(probed["wide"] <= probed["window"],
           f"{name}: {probed['wide']} pixels wide in a window of {probed['window']}")


def check_rich(browser, page):
    light = browser.probe(page, "--window-size=1280,1000")
    check_charts("light", light)
    headings = [chart["heading"] for chart in light["charts"]]
    expect(headings[:3] == ["Bandwidth over message size", "Latency over message size",
                            "Message rate over message size"], f"charts: {headings}")
    expect(len(headings) == 5 and all(h.startswith("Latency percentiles: send") for h in headings[3:]),
           f"a percentile chart each latency group: {headings}")
    if headings:
        limits = sorted(s["label"] for s in light["charts"][0]["sets"] if s["limit"])
        expect(limits == ["PCIe of GPU 0 (gen 5 x16)", "link of mlx5_0 port 1",
                          "single-thread memcpy"], f"limits: {limits}")
    dark = browser.probe(page, "--window-size=1280,1000", *DARK)
    check_charts("dark", dark)
    expect([c["sets"][0]["colour"] for c in light["charts"]] !=
           [c["sets"][0]["colour"] for c in dark["charts"]], "the dark scheme has its own colours")
    check_charts("narrow", browser.probe(page, "--window-size=500,900"))


def check_others(browser, folder, pages):
    evil = browser.probe(pages["evil"])
    expect(evil["title"].startswith("gdr perf: </script><script>"), f"title: {evil['title']}")
    check_charts("evil", evil)
    one = browser.probe(pages["one"])
    expect(len(one["charts"]) == 1, "one row is one chart")
    check_charts("one", one)
    expect(browser.probe(pages["empty"])["charts"] == [], "no rows, no charts")
    for name, options in (("light", ["--window-size=1280,3600"]),
                          ("dark", ["--window-size=1280,3600", *DARK]),
                          ("narrow", ["--window-size=500,4200"])):
        browser.run(pages["rich"], f"--screenshot={folder}/{name}.png", *options)
    browser.run(pages["rich"], f"--print-to-pdf={folder}/printed.pdf", *DARK)
    for name in ("light.png", "dark.png", "narrow.png", "printed.pdf"):
        expect((folder / name).is_file(), f"no {name}")


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    browser = Browser(folder)
    pages = {}
    for kind in ("rich", "evil", "one", "empty"):
        pages[kind] = folder / f"{kind}.html"
        pages[kind].write_bytes(subprocess.run([program, kind], stdout=subprocess.PIPE,
                                               check=True).stdout)
    check_rich(browser, pages["rich"])
    check_others(browser, folder, pages)
    for message in FAILED:
        print(message)
    sys.exit(1 if FAILED else 0)


main()
