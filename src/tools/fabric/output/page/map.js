// Draws the cells that are shown on a canvas: which part of them is seen, the colours, the names at
// the edges. Rows send, columns receive.
'use strict';

// Stops of the scale: the share of the fleet's median, and its colour in either scheme. What is as
// fast as the fleet recedes, and what is slower stands out, for people of any colour vision.
const kScale = {
  light: [[0.5, [122, 22, 22]], [0.7, [204, 76, 18]], [0.85, [244, 160, 66]],
          [0.95, [247, 226, 160]], [1, [205, 222, 234]], [1.15, [96, 150, 196]]],
  dark: [[0.5, [255, 236, 190]], [0.7, [255, 176, 74]], [0.85, [222, 112, 32]],
         [0.95, [128, 84, 44]], [1, [44, 66, 84]], [1.15, [66, 128, 180]]],
};
const kMarks = {
  light: {wrong: [190, 0, 190], failed: [20, 20, 24], lost: [176, 182, 190], self: [232, 235, 239],
          none: [255, 255, 255]},
  dark: {wrong: [255, 84, 255], failed: [240, 244, 250], lost: [84, 92, 102], self: [38, 43, 50],
         none: [20, 23, 27]},
};
const packed = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
const cssOf = (colour) => `rgb(${colour.join(',')})`;

const colourOfShare = (scheme, share) => {
  const stops = kScale[scheme];
  let i = 1;
  while (i < stops.length - 1 && share > stops[i][0]) ++i;
  const [low, from] = stops[i - 1], [high, to] = stops[i];
  const mix = Math.min(1, Math.max(0, (share - low) / (high - low)));
  return from.map((c, k) => Math.round(c + (to[k] - c) * mix));
};

class HeatMap {
  constructor(canvas, cells) {
    this.canvas = canvas;
    this.cells = cells;
    this.size = cells.order.length;
    this.view = {x: 0, y: 0, span: this.size};  // in cells
    this.cursor = null;                         // [row, column]
    this.highlighted = new Set();               // hosts
    this.scheme = 'light';
    this.queued = false;
  }

  setScheme(scheme) {
    this.scheme = scheme;
    this.table = new Uint32Array(1024);  // colours by share, in steps of 1/512
    for (let i = 0; i < 1024; ++i) this.table[i] = packed(colourOfShare(scheme, i / 512));
    this.draw();
  }

  // The plot is a square as large as the window lets it be.
  layOut() {
    const wide = this.canvas.parentElement.clientWidth;
    const left = wide < 560 ? 56 : 108, top = wide < 560 ? 56 : 88, strip = 14, gap = 6;
    const side = Math.max(160, Math.min(wide - left - strip - gap - 2,
                                        Math.max(320, innerHeight - top - 120)));
    this.box = {left, top, side, strip, gap, wide, high: top + side + gap + strip + 2};
    this.ratio = Math.min(devicePixelRatio || 1, 2);
    this.canvas.style.height = this.box.high + 'px';
    this.canvas.width = Math.round(wide * this.ratio);
    this.canvas.height = Math.round(this.box.high * this.ratio);
  }

  pixelsOfCell() { return this.box.side / this.view.span; }

  // [row, column] under a point of the canvas; a strip has only one of them.
  hit(x, y) {
    const {left, top, side, strip, gap} = this.box;
    const at = (point, from) => Math.floor(from + point / this.pixelsOfCell());
    const column = at(x - left, this.view.x), row = at(y - top, this.view.y);
    const inX = x >= left && x < left + side && column < this.size;
    const inY = y >= top && y < top + side && row < this.size;
    if (inX && inY) return {row, column};
    if (inY && x >= left + side + gap && x < left + side + gap + strip) return {row};
    if (inX && y >= top + side + gap && y < top + side + gap + strip) return {column};
    return null;
  }

  // The middle of a cell, for the cursor's words and for tests.
  centre(row, column) {
    const pixels = this.pixelsOfCell();
    return [this.box.left + (column + 0.5 - this.view.x) * pixels,
            this.box.top + (row + 0.5 - this.view.y) * pixels];
  }

  move(x, y) {
    const most = this.size - this.view.span;
    this.view.x = Math.min(Math.max(0, x), most);
    this.view.y = Math.min(Math.max(0, y), most);
    this.draw();
  }

  // The cell under the point stays under it.
  zoom(factor, x = this.box.left + this.box.side / 2, y = this.box.top + this.box.side / 2) {
    const {left, top, side} = this.box;
    const shareX = Math.min(Math.max((x - left) / side, 0), 1);
    const shareY = Math.min(Math.max((y - top) / side, 0), 1);
    const cellX = this.view.x + shareX * this.view.span;
    const cellY = this.view.y + shareY * this.view.span;
    this.view.span = Math.min(this.size, Math.max(Math.min(4, this.size), this.view.span / factor));
    this.move(cellX - shareX * this.view.span, cellY - shareY * this.view.span);
  }

  reset() {
    this.view = {x: 0, y: 0, span: this.size};
    this.draw();
  }

  // Moves the view so that the cell is in it.
  show(row, column) {
    const into = (at, from) => Math.min(at, Math.max(from, at + 1 - this.view.span));
    this.move(into(column, this.view.x), into(row, this.view.y));
  }

  draw() {
    if (this.queued) return;
    this.queued = true;
    requestAnimationFrame(() => {
      this.queued = false;
      this.drawNow();
    });
  }

  drawNow() {
    this.layOut();
    const context = this.canvas.getContext('2d');
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.box.wide, this.box.high);
    this.drawCells(context);
    this.drawStrips(context);
    new Edges(this, context).draw();
  }

  // How bad the worst cell under each pixel is. A lone cell that is smaller than a pixel still shows.
  worstOfPixels(side) {
    const {shown} = this.cells, {x, y, span} = this.view;
    const pixels = side / span;
    const worst = new Float32Array(side * side).fill(Infinity);
    let seen = 0;
    for (let i = 0; i < shown.row.length; ++i) {
      seen += shown.row[i] >= y - 1 && shown.row[i] < y + span &&
              shown.column[i] >= x - 1 && shown.column[i] < x + span;
    }
    const dot = Math.min(4, Math.max(1, Math.sqrt(side * side / Math.max(seen, 1)) / 2));
    const gap = pixels >= 8 ? 1 : 0;
    for (let i = 0; i < shown.row.length; ++i) {
      const row = shown.row[i], column = shown.column[i];
      if (row < y - 1 || row >= y + span || column < x - 1 || column >= x + span) continue;
      const left = Math.floor((column - x) * pixels), top = Math.floor((row - y) * pixels);
      const right = Math.max(Math.floor((column + 1 - x) * pixels) - gap, left + Math.round(dot));
      const bottom = Math.max(Math.floor((row + 1 - y) * pixels) - gap, top + Math.round(dot));
      const severity = shown.severity[i];
      for (let v = Math.max(0, top); v < Math.min(side, bottom); ++v) {
        for (let u = Math.max(0, left), at = v * side + u; u < Math.min(side, right); ++u, ++at) {
          if (severity < worst[at]) worst[at] = severity;
        }
      }
    }
    return worst;
  }

  drawCells(context) {
    const side = Math.round(this.box.side * this.ratio);
    const worst = this.worstOfPixels(side);
    const image = context.createImageData(side, side);
    const out = new Uint32Array(image.data.buffer);
    const marks = kMarks[this.scheme];
    const wrong = packed(marks.wrong), failed = packed(marks.failed), lost = packed(marks.lost),
          self = packed(marks.self), none = packed(marks.none);
    const perPixel = this.view.span / side;
    const isLost = this.cells.order.map((host) => this.cells.hosts[host].state !== 'there');
    for (let v = 0, at = 0; v < side; ++v) {
      const row = Math.floor(this.view.y + v * perPixel);
      for (let u = 0; u < side; ++u, ++at) {
        const severity = worst[at];
        if (severity !== Infinity) {
          out[at] = severity === -2 ? wrong : severity === -1 ? failed
            : this.table[Math.min(1023, Math.round(severity * 512))];
          continue;
        }
        const column = Math.floor(this.view.x + u * perPixel);
        // Hatched, so that a lost host is no colour of the scale.
        out[at] = isLost[row] || isLost[column] ? ((u + v) % 6 < 3 ? lost : none)
          : row === column ? self : none;
      }
    }
    context.putImageData(image, Math.round(this.box.left * this.ratio),
                         Math.round(this.box.top * this.ratio));
  }

  // Row medians at the right, column medians below.
  drawStrips(context) {
    const {left, top, side, strip, gap} = this.box;
    const pixels = this.pixelsOfCell();
    const clip = (low, high) => [Math.max(0, low), Math.min(side, high)];
    const bar = (place, median, from, isRow) => {
      const [low, high] = clip((place - from) * pixels, (place + 1 - from) * pixels);
      if (high <= low) return;
      context.fillStyle = cssOf(median > 0 ? colourOfShare(this.scheme, median)
                                           : kMarks[this.scheme].none);
      const long = Math.max(high - low, 1);
      if (isRow) context.fillRect(left + side + gap, top + low, strip, long);
      else context.fillRect(left + low, top + side + gap, long, strip);
    };
    const {rowMedians, columnMedians} = this.cells.shown;
    for (const [medians, from, isRow] of [[rowMedians, this.view.y, true],
                                          [columnMedians, this.view.x, false]]) {
      // Slow ones last: where several share a pixel, they are seen.
      const places = medians.map((_, place) => place)
          .filter((place) => place + 1 > from && place < from + this.view.span)
          .sort((a, b) => (medians[b] || 9) - (medians[a] || 9));
      for (const place of places) bar(place, medians[place], from, isRow);
    }
  }
}
