// Draws the report in the page. Chart.js is already loaded.
'use strict';
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const report = read('report');
  const titles = read('titles');  // one per row, without measure and size
  const place = document.getElementById('charts');
  const print = matchMedia('print');
  const dark = matchMedia('(prefers-color-scheme: dark)');

  // Colours that people with any colour vision can tell apart; point shapes differ too.
  const kSeries = {
    light: ['#0067a5', '#c44e00', '#00795a', '#9a3d86', '#7a6000', '#4d5965', '#2f86d0', '#b3261e'],
    dark: ['#5ab4f0', '#ff9d5c', '#3fd0a0', '#e79ad0', '#e5c04b', '#b8c2cc', '#9ecbff', '#ff8a80'],
  };
  const kPoints = ['circle', 'rect', 'triangle', 'rectRot', 'star', 'crossRot'];
  // Ordered by brightness, for message sizes.
  const kRamp = {
    light: [[68, 1, 84], [59, 82, 139], [33, 144, 140], [60, 160, 70], [190, 140, 0]],
    dark: [[150, 110, 255], [80, 160, 240], [60, 200, 180], [140, 220, 90], [253, 231, 37]],
  };
  let charts = [];
  let scheme = 'light';

  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const digits = (value) => {
    let behind = 0;
    for (let least = 99.95; behind < 5 && Math.abs(value) < least; least /= 10) ++behind;
    return value.toFixed(behind);
  };
  const plain = (value) => String(Number(value.toPrecision(3)));
  const sizeText = (bytes) => {
    let unit = 0;
    for (; unit < 3 && bytes > 0 && bytes % 1024 === 0; ++unit) bytes /= 1024;
    return bytes + ' ' + ['B', 'KiB', 'MiB', 'GiB'][unit];
  };
  const ramp = (share) => {
    const stops = kRamp[scheme];
    const at = share * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    const mix = stops[low].map((c, i) => Math.round(c + (stops[low + 1][i] - c) * (at - low)));
    return '#' + mix.map((c) => c.toString(16).padStart(2, '0')).join('');
  };
  const colourOf = (index) => kSeries[scheme][index % kSeries[scheme].length];

  // Rows by title, in the report's order; rows without figures are left out.
  const seriesOf = (measure, has) => {
    const found = new Map();
    report.rows.forEach((row, i) => {
      if (row.load.measure !== measure || !has(row)) return;
      if (!found.has(titles[i])) found.set(titles[i], []);
      found.get(titles[i]).push(row);
    });
    for (const rows of found.values()) rows.sort((a, b) => a.load.size_bytes - b.load.size_bytes);
    return found;
  };

  // Names dashed lines at the left, where curves are low: above the line, or below it if another name
  // is near.
  const limitNames = {
    id: 'limitNames',
    afterDatasetsDraw(chart) {
      const {ctx, chartArea} = chart;
      const limits = chart.data.datasets.filter((set) => set.limit)
          .map((set) => ({name: set.limit, y: chart.scales.y.getPixelForValue(set.data[0].y)}))
          .sort((a, b) => a.y - b.y);
      ctx.save();
      ctx.font = '11px system-ui, "DejaVu Sans", sans-serif';
      ctx.fillStyle = style('--quiet');
      ctx.strokeStyle = style('--card');
      ctx.lineWidth = 3;
      ctx.lineJoin = 'round';
      ctx.textBaseline = 'middle';
      let last = -Infinity;
      for (const limit of limits) {
        const y = limit.y - 8 - last < 13 ? Math.max(limit.y + 9, last + 13) : limit.y - 8;
        last = y;
        ctx.strokeText(limit.name, chartArea.left + 6, y, chartArea.width - 12);
        ctx.fillText(limit.name, chartArea.left + 6, y, chartArea.width - 12);
      }
      ctx.restore();
    },
  };

  const axis = (title, more) => ({
    type: 'logarithmic',
    title: {display: true, text: title, color: style('--quiet')},
    grid: {color: style('--line'), borderColor: style('--line')},
    ...more,
    ticks: {color: style('--quiet'), ...more.ticks},
  });
  const sizeAxis = (sizes) => axis('message size', {
    min: sizes.length > 1 ? sizes[0] : undefined,
    max: sizes.length > 1 ? sizes[sizes.length - 1] : undefined,
    afterBuildTicks: (scale) => { scale.ticks = sizes.map((value) => ({value})); },
    ticks: {callback: (value) => sizeText(value), maxRotation: 60, autoSkipPadding: 8},
  });
  // Decades, and what halves them where there are few.
  const amountAxis = (title, more = {}) => axis(title, {
    ...more,
    ticks: {
      callback(value) {
        const decades = Math.log10(this.max / this.min);
        const lead = Number((value / 10 ** Math.floor(Math.log10(value) + 1e-9)).toFixed(6));
        const wanted = decades < 1 ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : decades < 4 ? [1, 2, 5] : [1];
        return wanted.includes(lead) ? plain(value) : null;
      },
    },
  });

  const draw = (heading, note, datasets, scales, unit) => {
    const figure = document.createElement('figure');
    const caption = document.createElement('figcaption');
    caption.textContent = heading;
    for (const [words, kind] of [[note, 'note'], [place.dataset.standIn, 'advice']]) {
      if (!words) continue;
      const span = document.createElement('span');
      caption.append(Object.assign(span, {textContent: words, className: kind}));
    }
    const plot = Object.assign(document.createElement('div'), {className: 'plot'});
    const canvas = document.createElement('canvas');
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', heading + '; the tables below have its numbers');
    plot.append(canvas);
    figure.append(caption, plot);
    place.append(figure);
    charts.push(new Chart(canvas, {
      type: 'line',
      data: {datasets},
      options: {
        animation: false,
        maintainAspectRatio: false,
        parsing: false,
        interaction: {mode: 'nearest', intersect: false},
        scales,
        plugins: {
          legend: {
            position: 'bottom',
            align: 'start',
            labels: {
              color: style('--text'),
              usePointStyle: true,
              boxWidth: 12,
              boxHeight: 6,
              filter: (item, data) => !data.datasets[item.datasetIndex].quiet,
            },
          },
          tooltip: {
            callbacks: {
              title: (items) => items.map((item) => item.raw.title).filter(Boolean).slice(0, 1),
              label: (item) => `${item.dataset.label}: ${digits(item.parsed.y)} ${unit}`,
              afterLabel: (item) => item.raw.more || '',
            },
          },
        },
      },
      plugins: [limitNames],
    }));
  };

  const line = (label, index, data) => ({
    label,
    data,
    borderColor: colourOf(index),
    backgroundColor: colourOf(index),
    pointStyle: kPoints[index % kPoints.length],
    borderWidth: 2,
    pointRadius: 3.5,
    clip: 8,
  });
  const sizesOf = (series) => {
    const sizes = new Set([...series.values()].flat().map((row) => row.load.size_bytes));
    return [...sizes].filter((size) => size > 0).sort((a, b) => a - b);
  };
  const range = (figure, scale, unit) =>
    `${digits(figure.least / scale)} to ${digits(figure.most / scale)} ${unit} ` +
    `in ${figure.repetitions.length} repetitions`;
  const points = (rows, field, scale, unit) => rows.filter((row) => row[field].median > 0)
      .map((row) => ({
        x: row.load.size_bytes,
        y: row[field].median / scale,
        title: sizeText(row.load.size_bytes),
        more: range(row[field], scale, unit),
      }));

  const limitLines = (series, sizes) => {
    const limits = new Map();
    const exceeded = new Set();  // what a row is faster than was not its limit
    for (const row of [...series.values()].flat()) {
      for (const limit of row.limits) {
        if (limit.share > 1.05) exceeded.add(limit.what);
        if (limit.bytes_per_second > 0) limits.set(limit.what, limit.bytes_per_second / 1e9);
      }
    }
    for (const what of exceeded) limits.delete(what);
    const ends = sizes.length > 1 ? [sizes[0], sizes[sizes.length - 1]] : [sizes[0] / 8, sizes[0] * 8];
    return [...limits].map(([what, y]) => ({
      label: what,
      limit: `${what}: ${digits(y)} GB/s`,
      quiet: true,
      data: ends.map((x) => ({x, y})),
      borderColor: style('--quiet'),
      borderDash: [6, 4],
      borderWidth: 1.5,
      pointRadius: 0,
      pointHitRadius: 0,
    }));
  };

  // Room above and below, for names and points at the edges.
  const room = (lines) => {
    const values = lines.flatMap((set) => set.data.map((point) => point.y));
    return {
      min: values.reduce((a, b) => Math.min(a, b), Infinity) / 1.3,
      max: values.reduce((a, b) => Math.max(a, b), 0) * 1.4,
    };
  };

  const drawBandwidth = () => {
    const series = seriesOf('bandwidth', (row) => row.bandwidth_bytes_per_second);
    const sizes = sizesOf(series);
    if (sizes.length === 0) return;
    const lines = [...series].map(([title, rows], i) =>
      line(title, i, points(rows, 'bandwidth_bytes_per_second', 1e9, 'GB/s')));
    const limits = limitLines(series, sizes);
    draw('Bandwidth over message size', limits.length ? 'dashed: limits' : '',
         [...lines, ...limits],
         {x: sizeAxis(sizes),
          y: amountAxis('GB/s (10⁹ bytes a second)', room([...lines, ...limits]))},
         'GB/s');
  };

  const drawRate = () => {
    const series = seriesOf('rate', (row) => row.rate_messages_per_second);
    const sizes = sizesOf(series);
    if (sizes.length === 0) return;
    const lines = [...series].map(([title, rows], i) =>
      line(title, i, points(rows, 'rate_messages_per_second', 1e6, 'M/s')));
    draw('Message rate over message size', '', lines,
         {x: sizeAxis(sizes), y: amountAxis('M/s (10⁶ messages a second)', room(lines))}, 'M/s');
  };

  const latencySeries = () => seriesOf('latency', (row) => row.latency_ns && row.latency_ns.p50 > 0);

  const drawLatency = (series) => {
    const sizes = sizesOf(series);
    if (sizes.length === 0) return;
    const lines = [...series].flatMap(([title, rows], i) => {
      const at = (field) => rows.map((row) => ({
        x: row.load.size_bytes,
        y: row.latency_ns[field] / 1e3,
        title: sizeText(row.load.size_bytes),
      })).filter((point) => point.y > 0);
      return [line(title, i, at('p50')),
              {...line(title + ', 99 %', i, at('p99')), quiet: true, borderDash: [2, 3],
               borderWidth: 1.5, pointRadius: 0}];
    });
    draw('Latency over message size', 'solid: median; dotted: 99 %', lines,
         {x: sizeAxis(sizes), y: amountAxis('µs', room(lines))}, 'µs');
  };

  // Times at evenly spaced points of the percentile axis. The axis counts rarity: 2 is the median,
  // 100 is the time that one sample in a hundred exceeds.
  const percentiles = (latency) => {
    const {ns, count} = latency.histogram;
    if (ns.length === 0) {
      return [[2, 'p50'], [10, 'p90'], [100, 'p99'], [1e3, 'p99_9'], [1e4, 'p99_99']]
          .map(([x, field]) => ({x, y: latency[field] / 1e3}));
    }
    const found = [];
    const most = Math.min(1e4, latency.samples);
    let bin = 0;
    let below = count[0];
    for (let step = 0; step <= 160; ++step) {
      const x = most ** (step / 160);
      const wanted = Math.max(1, Math.ceil(latency.samples * (1 - 1 / x) - 1e-6));
      while (below < wanted && bin < ns.length - 1) below += count[++bin];
      found.push({x, y: ns[bin] / 1e3});
    }
    return found;
  };
  const kShares = new Map([[2, '50 %'], [10, '90 %'], [100, '99 %'], [1e3, '99.9 %'],
                           [1e4, '99.99 %']]);

  const drawPercentiles = (series) => {
    const all = [...series].map(([title, rows]) => [title, rows.map((row) => ({
      size: sizeText(row.load.size_bytes),
      points: percentiles(row.latency_ns).filter((point) => point.y > 0),
    }))]);
    // The same axis for all, so that they can be compared.
    const both = room(all.flatMap(([, rows]) => rows.map((row) => ({data: row.points}))));
    for (const [title, rows] of all) {
      const lines = rows.map((row, i) => {
        const colour = ramp(rows.length > 1 ? i / (rows.length - 1) : 0.25);
        return {
          label: row.size,
          data: row.points.map((point) => ({
            ...point, title: `${plain(100 * (1 - 1 / point.x))} % of samples within`})),
          borderColor: colour,
          backgroundColor: colour,
          borderWidth: 2,
          pointRadius: 0,
          pointHitRadius: 4,
          pointStyle: 'line',
        };
      });
      const shares = axis('share of samples within this time', {
        min: 1,
        max: 1e4,
        afterBuildTicks: (scale) => {
          scale.ticks = [...kShares.keys()].map((value) => ({value}));
        },
        ticks: {callback: (value) => kShares.get(value), maxRotation: 0},
      });
      draw('Latency percentiles: ' + title, 'one line per message size', lines,
           {x: shares, y: amountAxis('µs', both)}, 'µs');
    }
  };

  const drawAll = (light) => {
    for (const chart of charts) chart.destroy();
    charts = [];
    place.replaceChildren();
    scheme = !light && dark.matches ? 'dark' : 'light';
    drawBandwidth();
    const series = latencySeries();
    drawLatency(series);
    drawRate();
    drawPercentiles(series);
    place.hidden = charts.length === 0;
  };
  drawAll(print.matches);
  dark.addEventListener('change', () => drawAll(print.matches));
  // Paper is light, whatever the screen is.
  print.addEventListener('change', () => drawAll(print.matches));
})();
