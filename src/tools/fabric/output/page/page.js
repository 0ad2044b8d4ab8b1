// Joins the map with the page: pointer, wheel, keyboard, buttons, the list of findings.
'use strict';
(() => {
  const element = (id) => document.getElementById(id);
  const canvas = element('map');
  const cells = new Cells(JSON.parse(element('fabric').textContent));
  if (cells.order.length === 0 || cells.layers.length === 0) return;
  element('heatmap').hidden = false;
  const words = new Words(cells);
  const map = new HeatMap(canvas, cells);
  const tip = element('tip'), readout = element('readout');
  const dark = matchMedia('(prefers-color-scheme: dark)'), print = matchMedia('print');

  const choose = () => {
    const figure = document.querySelector('input[name=figure]:checked').value;
    cells.choose(Number(element('rail').value), figure);
    map.draw();
    if (map.cursor) say(...map.cursor);
  };

  // The same words beside the pointer and, for those who do not see it, below the map.
  const say = (row, column) => {
    readout.textContent = words.cell(cells.order[row], cells.order[column]);
  };
  const hideTip = () => { tip.hidden = true; };
  const showTip = (text, x, y) => {
    tip.textContent = text;
    tip.hidden = false;
    const {width, height} = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - width - 4)) + 'px';
    tip.style.top = (y + 18 + height < innerHeight ? y + 18 : Math.max(4, y - height - 10)) + 'px';
  };
  const pointOf = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const hover = (event) => {
    const hit = map.hit(...pointOf(event));
    if (!hit) return hideTip();
    const {row, column} = hit;
    if (row !== undefined && column !== undefined) {
      showTip(words.cell(cells.order[row], cells.order[column]), event.clientX, event.clientY);
      say(row, column);
    } else {
      const isRow = row !== undefined;
      showTip(words.median(cells.order[isRow ? row : column], isRow), event.clientX, event.clientY);
    }
  };
  const select = (row, column) => {
    map.cursor = [row, column];
    say(row, column);
    map.draw();
  };

  // One pointer drags, two zoom; one that did not move selects.
  const pointers = new Map();
  let moved = 0;
  const distance = () => {
    const [a, b] = [...pointers.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  };
  canvas.addEventListener('pointerdown', (event) => {
    pointers.set(event.pointerId, pointOf(event));
    moved = pointers.size > 1 ? Infinity : 0;
    try { canvas.setPointerCapture(event.pointerId); } catch { /* a made-up event has none */ }
  });
  canvas.addEventListener('pointermove', (event) => {
    const before = pointers.get(event.pointerId), now = pointOf(event);
    if (!before) return hover(event);
    hideTip();
    if (pointers.size === 2) {
      const was = distance();
      pointers.set(event.pointerId, now);
      const [a, b] = [...pointers.values()];
      map.zoom(distance() / Math.max(was, 1), (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
      return;
    }
    pointers.set(event.pointerId, now);
    moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (moved < 4) return;
    map.move(map.view.x - (now[0] - before[0]) / map.pixelsOfCell(),
             map.view.y - (now[1] - before[1]) / map.pixelsOfCell());
  });
  const lift = (event) => {
    if (!pointers.delete(event.pointerId) || event.type === 'pointercancel' || moved >= 4) return;
    const hit = map.hit(...pointOf(event));
    if (hit && hit.row !== undefined && hit.column !== undefined) {
      select(hit.row, hit.column);
      hover(event);
    }
  };
  canvas.addEventListener('pointerup', lift);
  canvas.addEventListener('pointercancel', lift);
  canvas.addEventListener('pointerleave', hideTip);
  canvas.addEventListener('wheel', (event) => {
    const [x, y] = pointOf(event);
    if (!map.hit(x, y)) return;
    event.preventDefault();
    hideTip();
    map.zoom(Math.exp(-Math.sign(event.deltaY) * 0.25), x, y);
  }, {passive: false});

  // Arrows move the cursor, with Shift the view.
  const kArrows = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};
  canvas.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const arrow = kArrows[event.key];
    if (arrow && event.shiftKey) {
      const step = map.view.span / 8;
      map.move(map.view.x + arrow[1] * step, map.view.y + arrow[0] * step);
    } else if (arrow) {
      const start = map.cursor || [Math.floor(map.view.y), Math.floor(map.view.x)];
      const inside = (at) => Math.min(Math.max(at, 0), map.size - 1);
      const next = map.cursor ? start.map((at, i) => inside(at + arrow[i])) : start;
      select(...next);
      map.show(...next);
    } else if (event.key === '+' || event.key === '=') {
      map.zoom(1.5);
    } else if (event.key === '-') {
      map.zoom(1 / 1.5);
    } else if (event.key === '0') {
      map.reset();
    } else if (event.key === 'Escape') {
      map.cursor = null;
      map.highlighted = new Set();
      map.draw();
    } else {
      return;
    }
    event.preventDefault();
  });
  element('closer').addEventListener('click', () => map.zoom(1.5));
  element('farther').addEventListener('click', () => map.zoom(1 / 1.5));
  element('whole').addEventListener('click', () => map.reset());

  // A finding shows its hosts' rows and columns, on its rail.
  const highlight = (row) => {
    const isOn = row.classList.contains('chosen');
    for (const other of document.querySelectorAll('#findings .chosen')) {
      other.classList.remove('chosen');
      other.querySelector('button').setAttribute('aria-pressed', 'false');
    }
    map.highlighted = new Set();
    if (!isOn) {
      row.classList.add('chosen');
      row.querySelector('button').setAttribute('aria-pressed', 'true');
      map.highlighted = new Set(row.dataset.hosts.split(' ').filter(Boolean).map(Number));
      const rail = cells.layers.findIndex((layer) =>
        !layer.isCrossed && layer.rail === Number(row.dataset.rail));
      element('rail').value = String(cells.layers.length > 1 ? rail : 0);
      map.cursor = null;
      choose();
      readout.textContent = [...map.highlighted].slice(0, 4).flatMap((host) =>
        [words.median(host, true), words.median(host, false)]).join('\n');
      if (map.highlighted.size > 0 && map.view.span < map.size) {
        const place = cells.place[[...map.highlighted][0]];
        map.show(place, place);
      }
      element('heatmap').scrollIntoView({block: 'nearest'});
    }
    map.draw();
  };
  for (const row of document.querySelectorAll('#findings tr[data-hosts]')) {
    if (!row.dataset.hosts) continue;
    const button = row.querySelector('button');
    button.hidden = false;
    // Whoever selects text of the row wants to copy it.
    row.addEventListener('click', () => {
      if (getSelection().isCollapsed) highlight(row);
    });
  }

  const rails = element('rail');
  const option = (value, text) => {
    rails.append(Object.assign(document.createElement('option'), {value: String(value),
                                                                  textContent: text}));
  };
  if (cells.layers.length > 1) option(-1, 'all rails: the worst one');
  cells.layers.forEach((layer, i) => option(i, words.railOf(layer)));
  rails.addEventListener('change', choose);
  for (const input of document.querySelectorAll('input[name=figure]')) {
    input.addEventListener('change', choose);
  }

  // The scale, in the colours of the scheme.
  const drawLegend = (scheme) => {
    const scale = element('scale');
    const stops = [0.5, 0.7, 0.85, 0.95, 1, 1.15];
    scale.replaceChildren(...stops.map((share) => {
      const swatch = document.createElement('span');
      const colour = document.createElement('i');
      colour.style.background = cssOf(colourOfShare(scheme, share));
      swatch.append(colour, (share === 0.5 ? '≤ ' : share === 1.15 ? '≥ ' : '') +
                            Math.round(share * 100) + ' %');
      return swatch;
    }));
    for (const kind of ['wrong', 'failed', 'lost', 'none']) {
      const colour = cssOf(kMarks[scheme][kind]), none = cssOf(kMarks[scheme].none);
      element('mark-' + kind).style.background = kind !== 'lost' ? colour
        : `repeating-linear-gradient(135deg, ${colour} 0 2px, ${none} 2px 4px)`;
    }
  };
  const applyScheme = () => {
    const scheme = dark.matches && !print.matches ? 'dark' : 'light';
    drawLegend(scheme);
    map.setScheme(scheme);
  };
  choose();
  map.layOut();
  applyScheme();
  dark.addEventListener('change', applyScheme);
  print.addEventListener('change', applyScheme);
  addEventListener('resize', () => map.draw());
  canvas.heatMap = map;  // for tests, and for whoever looks at it by hand
})();
