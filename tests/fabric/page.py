"""The page of gdr fabric in headless Chromium: page.py FABRIC_SAMPLE_OUTPUT FOLDER.

No line on the console; hovering tells of the right cell; wheel, buttons, keys and dragging move the
view; the rail and the figure change the colours; a finding highlights its host. Screenshots for a
person to look at stay in FOLDER.
"""
import html
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from browser import browse, chromium

# Runs after the page's own scripts, in a copy of the page, and uses it as a person does.
PROBE = """<script>setTimeout(() => {
  const found = {title: document.title, wide: document.documentElement.scrollWidth,
                 window: innerWidth};
  const canvas = document.getElementById('map'), map = canvas && canvas.heatMap;
  const tip = document.getElementById('tip'), readout = document.getElementById('readout');
  // A headless browser that prints the page does not always draw frames.
  const settled = () => map.drawNow();
  if (map) {
    settled();
    const place = (row, column) => {
      const box = canvas.getBoundingClientRect(), [x, y] = map.centre(row, column);
      return {clientX: box.left + x, clientY: box.top + y, bubbles: true, cancelable: true,
              pointerId: 7};
    };
    const colour = (row, column) => {
      const [x, y] = map.centre(row, column).map((at) => Math.round(at * map.ratio));
      // Beside the middle, where the shapes are.
      const off = Math.round(map.pixelsOfCell() * map.ratio * 0.4);
      return [...canvas.getContext('2d').getImageData(x, y - off, 1, 1).data].join(',');
    };
    const hover = (row, column) => {
      canvas.dispatchEvent(new PointerEvent('pointermove', place(row, column)));
      return tip.hidden ? null : tip.textContent;
    };
    const change = (id, value) => {
      const field = document.querySelector(id);
      if (field.type === 'radio') field.checked = true; else field.value = value;
      field.dispatchEvent(new Event('change', {bubbles: true}));
      settled();
    };
    found.rails = [...document.querySelectorAll('#rail option')].map((one) => one.textContent);
    found.names = map.cells.order.map((host) => map.cells.hosts[host].name);
    found.hover = {good: hover(0, 1), wrong: hover(2, 5), failed: hover(4, 9), lost: hover(0, 11),
                   self: hover(6, 6)};
    found.colours = {all: [colour(0, 1), colour(2, 5), colour(4, 9), colour(3, 1), colour(7, 1)]};
    found.strip = (() => {
      const box = canvas.getBoundingClientRect(), {left, side, gap} = map.box;
      canvas.dispatchEvent(new PointerEvent('pointermove', {bubbles: true, pointerId: 7,
        clientX: box.left + left + side + gap + 4, clientY: box.top + map.centre(7, 0)[1]}));
      return tip.textContent;
    })();
    canvas.dispatchEvent(new PointerEvent('pointerleave', {}));
    found.tipIsGone = tip.hidden;
    if (found.rails.length > 1) {
      change('#rail', '0');
      found.colours.first = [colour(0, 1), colour(2, 5), colour(4, 9), colour(3, 1), colour(7, 1)];
      found.first = hover(3, 1);
      change('#rail', '1');
      found.colours.second = [colour(0, 1), colour(2, 5), colour(4, 9), colour(3, 1), colour(7, 1)];
      found.second = hover(3, 1);
      change('input[value=latency]');
      found.colours.latency = [colour(0, 1), colour(2, 5), colour(4, 9), colour(3, 1), colour(7, 1)];
      change('input[value=bandwidth]');
      change('#rail', '-1');
    }
    const span = () => map.view.span;
    found.spans = [span()];
    const under = (event) => map.hit(event.clientX - canvas.getBoundingClientRect().left,
                                     event.clientY - canvas.getBoundingClientRect().top);
    const spot = place(2, 5);
    canvas.dispatchEvent(new WheelEvent('wheel', {...spot, deltaY: -100}));
    found.spans.push(span());
    found.underWheel = under(spot);
    settled();
    found.colourAfterZoom = colour(2, 5);
    document.getElementById('closer').click();
    found.spans.push(span());
    document.getElementById('farther').click();
    found.spans.push(span());
    const key = (name, more) =>
      canvas.dispatchEvent(new KeyboardEvent('keydown', {key: name, bubbles: true, ...more}));
    key('+');
    found.spans.push(span());
    const before = map.view.x;
    key('ArrowRight', {shiftKey: true});
    found.movedByKey = map.view.x - before;
    const from = map.view.x, start = place(Math.floor(map.view.y) + 1, Math.floor(from) + 1);
    canvas.dispatchEvent(new PointerEvent('pointerdown', start));
    canvas.dispatchEvent(new PointerEvent('pointermove', {...start, clientX: start.clientX + 30}));
    canvas.dispatchEvent(new PointerEvent('pointerup', {...start, clientX: start.clientX + 30}));
    found.movedByDrag = (from - map.view.x) * map.pixelsOfCell();
    key('0');
    found.spans.push(span());
    key('ArrowDown');
    key('ArrowRight');
    found.cursor = map.cursor;
    found.readout = readout.textContent;
    canvas.dispatchEvent(new PointerEvent('pointerdown', place(2, 5)));
    canvas.dispatchEvent(new PointerEvent('pointerup', place(2, 5)));
    found.tapped = readout.textContent;
    const rows = [...document.querySelectorAll('#findings tr[data-hosts]')];
    if (rows.length > 3) {
      rows[2].click();
      found.highlighted = [...map.highlighted];
      found.railOfFinding = document.getElementById('rail').value;
      rows[3].querySelector('button').click();
      found.highlightedNext = [...map.highlighted];
      rows[3].click();
      found.highlightedLast = [...map.highlighted];
    }
  }
  const probe = document.createElement('pre');
  probe.id = 'probe';
  probe.textContent = JSON.stringify(found);
  document.body.append(probe);
}, 300)</script></body>"""

DARK = ("--blink-settings=preferredColorScheme=0",)
FAILED = []


def expect(claim, message):
    if not claim:
        FAILED.append(message)


class Browser:
    def __init__(self, program, folder):
        self._chromium = chromium()
        self._program = program
        self._folder = folder

    def page(self, name, *arguments):
        page = self._folder / f"{name}.html"
        page.write_bytes(subprocess.run([self._program, "page", *arguments], check=True,
                                        stdout=subprocess.PIPE, timeout=600).stdout)
        return page

    def run(self, page, *options):
        output, console, problem = browse(self._chromium, page, *options)
        expect(not problem, problem)
        # Reading pixels is the probe's doing, not the page's.
        console = [line for line in console if "willReadFrequently" not in line]
        expect(console == [], f"{page.name}: the console says {console}")
        return output

    def probe(self, page, *options):
        text = page.read_text()
        expect(text.count("</body>") == 1, f"{page.name} has one end")
        with_probe = self._folder / f"probed-{page.name}"
        with_probe.write_text(text.replace("</body>", PROBE))
        dom = self.run(with_probe, "--dump-dom", *options)
        with_probe.unlink()
        found = re.search(r'<pre id="probe">(.*?)</pre>', dom, re.S)
        if not found:
            FAILED.append(f"{page.name}: its scripts did not run to the end")
            return None
        return json.loads(html.unescape(found[1]))


def check_hover(found):
    hover = found["hover"]
    lines = hover["good"].split("\n")
    expect(lines[0] == "n0 (leaf0) → n1 (leaf0)", f"hover: {hover['good']}")
    expect(re.fullmatch(r"mlx5_[01] with GPU [01]: every byte right, round 0", lines[1]),
           f"rail and round: {lines[1]}")
    expect(re.fullmatch(r"2[34]\.\d GB/s bandwidth, (9\d\.\d|10\d) % of the fleet's median", lines[2]),
           f"bandwidth: {lines[2]}")
    expect(re.fullmatch(r"2\.\d\d µs latency, .* % of the fleet's median", lines[3]),
           f"latency: {lines[3]}")
    expect("WRONG BYTES" in hover["wrong"] and "bit 3 of byte 17" in hover["wrong"],
           f"wrong bytes: {hover['wrong']}")
    expect("FAILED" in hover["failed"] and "transport retry exceeded" in hover["failed"],
           f"a failed transfer: {hover['failed']}")
    expect("not measured" in hover["lost"] and "n11 died: the connection ended" in hover["lost"],
           f"a lost host: {hover['lost']}")
    expect("the same host" in hover["self"], f"the diagonal: {hover['self']}")
    expect(re.match(r"n7 \(leaf0\) to all others: median 8[45]\.\d % of the fleet's$",
                    found["strip"]), f"the strip of medians: {found['strip']}")
    expect(found["tipIsGone"], "the tip goes when the pointer leaves")


def check_colours(found):
    colours = found["colours"]
    good, wrong, failed, nic, slow = colours["all"]
    expect(len({good, wrong, failed, nic, slow}) == 5, f"five kinds, five colours: {colours['all']}")
    expect(colours["first"][1:3] == [wrong, failed], "rail 0 has the wrong and the failed cell")
    expect(colours["first"][3] != nic, "rail 0 of n3 is not slow")
    expect("mlx5_0" in found["first"] and "mlx5_1" in found["second"], "hover names the chosen rail")
    expect(wrong not in colours["second"] and failed not in colours["second"],
           "rail 1 has neither wrong nor failed cells")
    expect(colours["second"][3] == nic, "rail 1 of n3 is slow, as the worst of all rails says")
    expect(colours["latency"][3] != colours["second"][3] and colours["latency"][4] != slow,
           "latency has other colours")


def check_moves(found):
    whole, wheel, closer, farther, key, reset = found["spans"]
    expect(whole == 16 and wheel < whole and closer < wheel and farther > closer and key < farther,
           f"zooming: {found['spans']}")
    expect(reset == 16, "0 shows all again")
    expect(found["underWheel"] == {"row": 2, "column": 5}, "the cell under the wheel stays there")
    expect(found["colourAfterZoom"] == found["colours"]["all"][1], "and keeps its colour")
    expect(found["movedByKey"] > 0, "Shift and arrow move the view")
    expect(abs(found["movedByDrag"] - 30) < 0.5, f"dragging moves: {found['movedByDrag']}")
    expect(found["cursor"] == [0, 1] and found["readout"] == found["hover"]["good"],
           f"arrows choose a cell: {found['cursor']}")
    expect(found["tapped"] == found["hover"]["wrong"], "a tap tells of its cell")
    expect(found["highlighted"] == [3] and found["railOfFinding"] == "1",
           "a finding highlights its host and chooses its rail")
    expect(found["highlightedNext"] == [7], "another one replaces it")
    expect(found["highlightedLast"] == [], "and goes when it is clicked again")


def check_small(browser, page):
    light = browser.probe(page, "--window-size=1280,1000")
    dark = browser.probe(page, "--window-size=500,900", *DARK)  # and narrow
    for found in filter(None, (light, dark)):
        expect(found["rails"] == ["all rails: the worst one", "mlx5_0 with GPU 0",
                                  "mlx5_1 with GPU 1"], f"rails: {found['rails']}")
        expect(found["names"] == [f"n{i}" for i in range(16)], f"order: {found['names']}")
        check_hover(found)
        check_colours(found)
        check_moves(found)
        expect(found["wide"] <= found["window"],
               f"{found['wide']} pixels wide in a window of {found['window']}")
    if light and dark:
        expect(light["colours"]["all"] != dark["colours"]["all"], "the dark scheme has its colours")


def check_others(browser):
    evil = browser.probe(browser.page("evil", "16", "2", "0", "evil"))
    if evil:
        expect(evil["title"] == "gdr fabric: 4 FINDINGS", f"title: {evil['title']}")
        expect("</script>" in evil["hover"]["good"], "a hostile name is shown as text")
    two = browser.probe(browser.page("two", "2", "1", "0", "healthy"))
    expect(two and two["spans"][0] == 2, "two hosts are a map of their own")
    expect(two and two["rails"] == ["mlx5_0 with GPU 0"], "one rail needs no choice of all")
    large = browser.page("large", "1024", "1")
    expect(large.stat().st_size < 10_000_000, f"1,024 hosts make {large.stat().st_size} bytes")
    found = browser.probe(large, "--window-size=1280,1000")
    expect(found and found["hover"]["wrong"].startswith("n2 (leaf0) → n5 (leaf0)"),
           "1,024 hosts: hover finds its cell")
    sparse = browser.probe(browser.page("sparse", "3000", "2", "8"), "--window-size=1280,1000")
    expect(sparse and len(sparse["names"]) == 3000, "a sampled fleet has a map, too")


def main():
    folder = pathlib.Path(sys.argv[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    browser = Browser(sys.argv[1], folder)
    page = browser.page("small")
    check_small(browser, page)
    check_others(browser)
    for name, options in (("light", ["--window-size=1280,1900"]),
                          ("dark", ["--window-size=500,1900", *DARK])):
        browser.run(page, f"--screenshot={folder}/{name}.png", *options)
        expect((folder / f"{name}.png").is_file(), f"no {name}.png")
    for message in FAILED:
        print(message)
    sys.exit(1 if FAILED else 0)


main()
