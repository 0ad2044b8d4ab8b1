// The words for a cell, a row, a column: what hovering says.
'use strict';

const digitsOf = (value) => {
  let behind = 0;
  for (let least = 99.95; behind < 5 && Math.abs(value) < least; least /= 10) ++behind;
  return value.toFixed(behind);
};
const percentOf = (share) => (share * 100).toFixed(share < 0.995 ? 1 : 0) + ' %';
const amountOf = (figure, value) => !(value > 0) ? 'not measured'
  : figure === 'latency' ? digitsOf(value / 1e3) + ' µs' : digitsOf(value / 1e9) + ' GB/s';
const wordOfMark = (mark) => ['not measured', 'every byte right', 'WRONG BYTES', 'FAILED',
                              'the other side was lost'][mark];

class Words {
  constructor(cells) { this.cells = cells; }

  name(host) { return this.cells.hosts[host].name; }
  leaf(host) { return this.cells.hosts[host].leaf; }
  railOf(layer) {
    const name = this.cells.rails[layer.rail];
    return layer.isCrossed ? `${name} → ${this.cells.rails[layer.farRail]}` : name;
  }
  place(host) {
    return this.leaf(host) ? `${this.name(host)} (${this.leaf(host)})` : this.name(host);
  }

  // Why a cell is empty; the lines below its head.
  empty(from, to) {
    if (from === to) return ['the same host'];
    const lost = [from, to].filter((host) => this.cells.hosts[host].state !== 'there')
        .map((host) => {
          const {state, problem} = this.cells.hosts[host];
          return `${this.name(host)} ${state}${problem ? ': ' + problem : ''}`;
        });
    return ['not measured', ...lost];
  }

  figures(layer, i) {
    return ['bandwidth', 'latency'].map((figure) => {
      const value = layer.value(figure, i);
      if (!(value > 0)) return `${figure} not measured`;
      const share = value / this.cells.median(layer, figure);
      const of = Number.isFinite(share) ? `, ${percentOf(share)} of the fleet's median` : '';
      return `${amountOf(figure, value)} ${figure}${of}`;
    });
  }

  cell(from, to) {
    const head = `${this.place(from)} → ${this.place(to)}`;
    const at = this.cells.shown.find(from, to);
    if (at < 0) return [head, ...this.empty(from, to)].join('\n');
    const layer = this.cells.shown.layer[at], i = this.cells.shown.index[at];
    const round = layer.round(i);
    const lines = [head, `${this.railOf(layer)}: ${wordOfMark(layer.mark(i))}` +
      (round === kUnknownRound ? '' : `, round ${round}`)];
    const incident = this.cells.incidents.get(`${from} ${to} ${layer.rail}`);
    if (incident) lines.push(incident);
    lines.push(...this.figures(layer, i));
    const again = this.cells.retest(layer, from, to);
    if (again) {
      const [its, j] = again;
      lines.push(`again alone on the fabric: ${wordOfMark(its.mark(j))}, ` +
                 `${amountOf('bandwidth', its.value('bandwidth', j))}`);
    }
    return lines.join('\n');
  }

  // The strip beside the map: what a host reaches as sender or as receiver.
  median(host, isRow) {
    const {shown, place} = this.cells;
    const share = (isRow ? shown.rowMedians : shown.columnMedians)[place[host]];
    const words = share > 0 ? `median ${percentOf(share)} of the fleet's` : 'not measured';
    const what = shown.figure === 'latency' ? ' (the latency of the fleet by its own)' : '';
    return `${this.place(host)} ${isRow ? 'to' : 'from'} all others: ${words}${what}`;
  }
}
