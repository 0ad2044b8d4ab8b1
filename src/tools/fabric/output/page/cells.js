// What was measured, unpacked from the page: layers of cells, and the cells of one choice of rail
// and figure. A cell is one direction of one pair of hosts on one rail.
'use strict';

// In the order of the document's marks.
const kNothing = 0, kProved = 1, kWrong = 2, kFailed = 3, kAbandoned = 4;
// Rounds from here on are not known: a mark has 13 bits for them.
const kUnknownRound = 0x1fff;

const bytesOf = (base64) => {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
};

// Columns of 16-bit numbers, lower byte first, whatever the machine of the browser prefers.
const numbersOf = (base64) => {
  const bytes = bytesOf(base64);
  const numbers = new Uint16Array(bytes.length >> 1);
  for (let i = 0; i < numbers.length; ++i) numbers[i] = bytes[2 * i] | bytes[2 * i + 1] << 8;
  return numbers;
};

// Amounts are written as places on a logarithmic scale: 1 is the least, 65535 the most.
const amountScale = ([least, most]) => (code) =>
  code === 0 ? 0 : least * Math.exp(Math.log(most / least) * (code - 1) / 65534);

// A layer: all cells of one rail to one rail.
class Layer {
  constructor(packed, hosts) {
    const numbers = numbersOf(packed.data);
    const n = packed.cells;
    this.rail = packed.rail;
    this.farRail = packed.far_rail;
    this.isCrossed = packed.rail !== packed.far_rail;
    this.cells = n;
    let at = 0;
    const column = () => numbers.subarray(at, at += n);
    if (packed.is_dense) {
      this.hostOf = (i) => [Math.floor(i / hosts), i % hosts];
    } else {
      const from = column(), to = column();
      this.hostOf = (i) => [from[i], to[i]];
    }
    this.codes = {bandwidth: column(), latency: column()};
    this.marks = column();
    this.scales = {
      bandwidth: amountScale(packed.bandwidth_scale),
      latency: amountScale(packed.latency_scale),
    };
  }
  mark(i) { return this.marks[i] & 7; }
  round(i) { return this.marks[i] >> 3; }
  value(figure, i) { return this.scales[figure](this.codes[figure][i]); }
}

const isBad = (mark) => mark === kWrong || mark === kFailed;

// How bad a cell is: the least one of several is shown. Below 0: not proved.
const severityOf = (mark, share) =>
  mark === kWrong ? -2 : mark === kFailed ? -1 : share > 0 ? share : Infinity;

const medianOf = (values) => {
  if (values.length === 0) return 0;
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

class Cells {
  constructor(document) {
    this.hosts = document.hosts;
    this.rails = document.rails;
    this.fleet = document.fleet;
    this.order = document.order;  // the host at each place
    this.place = new Array(this.order.length);
    this.order.forEach((host, place) => { this.place[host] = place; });
    this.layers = document.layers.map((packed) => new Layer(packed, this.hosts.length));
    this.retests = document.retests.map((packed) => new Layer(packed, this.hosts.length));
    this.incidents = new Map(document.incidents.map(([from, to, rail, text]) =>
      [`${from} ${to} ${rail}`, text]));
  }

  // The fleet's median that a layer is compared with.
  median(layer, figure) { return (this.fleet[layer.rail] || {})[figure] || 0; }

  // What a cell reaches of the fleet's median; a latency above it is less than 1, too.
  share(layer, figure, i) {
    const value = layer.value(figure, i), median = this.median(layer, figure);
    if (!(value > 0 && median > 0)) return 0;
    return figure === 'latency' ? median / value : value / median;
  }

  // Chooses what is shown. `chosen`: the number of a layer, or -1 for the worst of all rails.
  // Transfers that cross rails are slower by nature: in the worst of all they count where they are
  // not proved.
  choose(chosen, figure) {
    const size = this.hosts.length;
    const layers = chosen >= 0 ? [this.layers[chosen]] : this.layers;
    const found = size <= 2048 ? new Int32Array(size * size).fill(-1) : new Map();
    const isList = found instanceof Int32Array;
    const shown = {figure, layer: [], index: [], row: [], column: [], severity: []};
    for (const layer of layers) {
      for (let i = 0; i < layer.cells; ++i) {
        const mark = layer.mark(i);
        if (mark === kNothing || mark === kAbandoned) continue;
        if (chosen < 0 && layer.isCrossed && !isBad(mark)) continue;
        const severity = severityOf(mark, this.share(layer, figure, i));
        if (severity === Infinity) continue;
        const [from, to] = layer.hostOf(i);
        const key = from * size + to;
        let at = isList ? found[key] : found.get(key) ?? -1;
        if (at < 0) {
          at = shown.layer.length;
          if (isList) found[key] = at; else found.set(key, at);
          shown.row.push(this.place[from]);
          shown.column.push(this.place[to]);
        } else if (shown.severity[at] <= severity) {
          continue;
        }
        shown.layer[at] = layer;
        shown.index[at] = i;
        shown.severity[at] = severity;
      }
    }
    shown.find = (from, to) => {
      const at = isList ? found[from * size + to] : found.get(from * size + to);
      return at === undefined ? -1 : at;
    };
    this.addMedians(shown);
    this.shown = shown;
    return shown;
  }

  // The median share of each row, which sends, and of each column, which receives.
  addMedians(shown) {
    const rows = this.order.map(() => []), columns = this.order.map(() => []);
    for (let i = 0; i < shown.row.length; ++i) {
      if (shown.severity[i] < 0) continue;
      rows[shown.row[i]].push(shown.severity[i]);
      columns[shown.column[i]].push(shown.severity[i]);
    }
    shown.rowMedians = rows.map(medianOf);
    shown.columnMedians = columns.map(medianOf);
  }

  // What was measured again, alone on the fabric, of a cell that is shown.
  retest(layer, from, to) {
    for (const again of this.retests) {
      if (again.rail !== layer.rail || again.farRail !== layer.farRail) continue;
      for (let i = 0; i < again.cells; ++i) {
        const [its, other] = again.hostOf(i);
        if (its === from && other === to) return [again, i];
      }
    }
    return null;
  }
}
