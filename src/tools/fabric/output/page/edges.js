// What stands around and over the cells: names of hosts and leaves, lines between leaves, the frame,
// highlighted hosts, the cursor, and shapes for cells that are not proved.
'use strict';

class Edges {
  constructor(map, context) {
    this.map = map;
    this.context = context;
    this.box = map.box;
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(name).trim();
    this.colours = {text: read('--text'), quiet: read('--quiet'), line: read('--line'),
                    mark: read('--mark')};
  }

  draw() {
    const {context, box} = this;
    context.font = '11px system-ui, "DejaVu Sans", sans-serif';
    this.clipped(() => {
      this.leafLines();
      this.shapes();
      this.highlights();
      this.cursor();
    });
    context.strokeStyle = this.colours.line;
    context.lineWidth = 1;
    context.strokeRect(box.left - 0.5, box.top - 0.5, box.side + 1, box.side + 1);
    this.names();
    context.fillStyle = this.colours.quiet;
    context.textAlign = 'left';
    context.textBaseline = 'top';
    context.fillText('from ↓  to →', 2, 2);
  }

  clipped(draw) {
    const {context, box} = this;
    context.save();
    context.beginPath();
    context.rect(box.left, box.top, box.side, box.side);
    context.clip();
    draw();
    context.restore();
  }

  leafOf(place) {
    const {cells} = this.map;
    return cells.hosts[cells.order[place]].leaf;
  }

  // Runs of places with one leaf: [leaf, first, behind the last].
  leaves() {
    const runs = [];
    for (let place = 0; place < this.map.size; ++place) {
      const leaf = this.leafOf(place);
      if (runs.length && runs[runs.length - 1][0] === leaf) runs[runs.length - 1][2] = place + 1;
      else runs.push([leaf, place, place + 1]);
    }
    return runs;
  }

  leafLines() {
    const {context, box, map} = this;
    const pixels = map.pixelsOfCell();
    const runs = this.leaves();
    // Lines between small leaves would paint everything over.
    if (runs.length * 24 > map.size * pixels) return;
    context.strokeStyle = this.colours.quiet;
    context.lineWidth = 0.5;
    context.beginPath();
    for (const [, first] of runs.slice(1)) {
      const x = box.left + (first - map.view.x) * pixels, y = box.top + (first - map.view.y) * pixels;
      context.moveTo(x, box.top);
      context.lineTo(x, box.top + box.side);
      context.moveTo(box.left, y);
      context.lineTo(box.left + box.side, y);
    }
    context.stroke();
  }

  // A ring around each cell that is not proved, where cells are small and such are few.
  rings() {
    const {context, map} = this, {shown} = map.cells;
    const bad = shown.severity.reduce((count, severity) => count + (severity < 0), 0);
    if (bad > 200) return;
    for (let i = 0; i < shown.row.length; ++i) {
      if (shown.severity[i] >= 0) continue;
      const [x, y] = map.centre(shown.row[i], shown.column[i]);
      context.strokeStyle = cssOf(kMarks[map.scheme][shown.severity[i] === -2 ? 'wrong' : 'failed']);
      context.lineWidth = 1.5;
      context.beginPath();
      context.arc(x, y, 6, 0, 2 * Math.PI);
      context.stroke();
    }
  }

  // A cross for wrong bytes, a slash for a failure: they do not rest on colour alone.
  shapes() {
    const {context, map} = this;
    const pixels = map.pixelsOfCell(), {shown} = map.cells;
    if (pixels < 9) return this.rings();
    context.strokeStyle = cssOf(kMarks[map.scheme].none);
    context.lineWidth = 1.5;
    context.beginPath();
    const arm = pixels * 0.25;
    for (let i = 0; i < shown.row.length; ++i) {
      if (shown.severity[i] >= 0) continue;
      const [x, y] = map.centre(shown.row[i], shown.column[i]);
      context.moveTo(x - arm, y + arm);
      context.lineTo(x + arm, y - arm);
      if (shown.severity[i] !== -2) continue;
      context.moveTo(x - arm, y - arm);
      context.lineTo(x + arm, y + arm);
    }
    context.stroke();
  }

  highlights() {
    const {context, box, map} = this;
    const pixels = map.pixelsOfCell();
    context.strokeStyle = this.colours.mark;
    context.lineWidth = 2;
    // Around the cells, not over them.
    const thick = Math.max(pixels, 2) + 2;
    for (const host of map.highlighted) {
      const place = map.cells.place[host];
      const x = box.left + (place - map.view.x) * pixels, y = box.top + (place - map.view.y) * pixels;
      context.strokeRect(x - 1, box.top - 2, thick, box.side + 4);
      context.strokeRect(box.left - 2, y - 1, box.side + 4, thick);
    }
  }

  cursor() {
    const {context, map} = this;
    if (!map.cursor) return;
    const pixels = Math.max(map.pixelsOfCell(), 5);
    const [x, y] = map.centre(...map.cursor);
    context.strokeStyle = this.colours.text;
    context.lineWidth = 2;
    context.strokeRect(x - pixels / 2, y - pixels / 2, pixels, pixels);
  }

  // The name at a row and at a column; the part that does not fit is left out at the end.
  fitted(text, room) {
    if (this.context.measureText(text).width <= room) return text;
    let kept = text;
    while (kept && this.context.measureText(kept + '…').width > room) kept = kept.slice(0, -1);
    return kept + '…';
  }

  name(text, place, isStrong) {
    const {context, box, map} = this;
    context.fillStyle = isStrong ? this.colours.mark : this.colours.text;
    const x = box.left + (place - map.view.x) * map.pixelsOfCell();
    const y = box.top + (place - map.view.y) * map.pixelsOfCell();
    const slack = 6;
    if (y >= box.top - slack && y <= box.top + box.side + slack) {
      context.textAlign = 'right';
      context.textBaseline = 'middle';
      context.fillText(this.fitted(text, box.left - 8), box.left - 5, y);
    }
    if (x >= box.left - slack && x <= box.left + box.side + slack) {
      context.save();
      context.translate(x, box.top - 5);
      context.rotate(-Math.PI / 2);
      context.textAlign = 'left';
      context.textBaseline = 'middle';
      context.fillText(this.fitted(text, box.top - 22), 0, 0);
      context.restore();
    }
  }

  // Hosts where they fit, else leaves; highlighted hosts always.
  names() {
    const {map} = this, {cells} = map;
    const pixels = map.pixelsOfCell(), kLine = 12;
    const taken = [];
    const put = (text, place, isStrong) => {
      if (!isStrong && taken.some((other) => Math.abs(other - place) * pixels < kLine)) return;
      taken.push(place);
      this.name(text, place, isStrong);
    };
    const runs = this.leaves();
    if (map.highlighted.size <= 40) {
      for (const host of map.highlighted) put(cells.hosts[host].name, cells.place[host] + 0.5, true);
    }
    const [low, high] = [Math.min(map.view.x, map.view.y) - 1,
                         Math.max(map.view.x, map.view.y) + map.view.span + 1];
    if (pixels >= kLine || runs.length < 2) {
      const step = Math.max(1, Math.ceil(kLine * 1.5 / pixels));
      for (let place = 0; place < map.size; place += pixels >= kLine ? 1 : step) {
        if (place < low || place > high) continue;
        put(cells.hosts[cells.order[place]].name, place + 0.5, false);
      }
    } else {
      for (const [leaf, first, behind] of runs) put(leaf, (first + behind) / 2, false);
    }
  }
}
