// The theme and the charts. All they show comes from the page itself; texts are only ever set as text.
"use strict";
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);

  // --- the theme ---------------------------------------------------------------------------------

  const wantsDark = window.matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : wantsDark.matches);

  const themeButton = byId("theme");
  const showTheme = () => {
    themeButton.textContent = isDark() ? "☀ Light" : "☾ Dark";
    drawAll();
  };
  themeButton.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("wsmeter-theme", root.dataset.theme);
    } catch {
      // It is forgotten with the page, then.
    }
    showTheme();
  });
  wantsDark.addEventListener("change", showTheme);

  // Paper is white, and as wide as A4 or Letter are between their margins. What was folded is printed too.
  const PAPER = 690;
  let isPrinting = false;
  let screenTheme;
  let folded = [];
  window.addEventListener("beforeprint", () => {
    isPrinting = true;
    screenTheme = root.dataset.theme;
    root.dataset.theme = "light";
    folded = [...document.querySelectorAll("main details:not([open])")];
    folded.forEach((details) => { details.open = true; });
    showTheme();
  });
  window.addEventListener("afterprint", () => {
    if (screenTheme) root.dataset.theme = screenTheme;
    else delete root.dataset.theme;
    folded.forEach((details) => { details.open = false; });
    isPrinting = false;
    showTheme();
  });

  // --- how numbers read --------------------------------------------------------------------------

  const grouped = (number) => number.toLocaleString("en-US", { maximumFractionDigits: 2 });
  // Three digits or so, without zeros that say nothing.
  const digits = (number) => {
    const size = Math.abs(number);
    return String(Number(number.toFixed(size < 10 ? 2 : size < 100 ? 1 : 0)));
  };
  const time = (ms) => {
    if (ms === null || ms === undefined) return "–";
    if (ms === 0) return "0";
    if (ms < 0.9995) return `${digits(ms * 1000)} µs`;
    if (ms < 999.5) return `${digits(ms)} ms`;
    return `${digits(ms / 1000)} s`;
  };
  const two = (number) => String(number).padStart(2, "0");
  const elapsed = (seconds) => {
    const whole = Math.round(Math.abs(seconds));
    const sign = seconds < 0 ? "-" : "";
    const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
    return hours > 0 ? `${sign}${hours}:${two(minutes)}:${two(rest)}` : `${sign}${minutes}:${two(rest)}`;
  };
  const moment = (seconds) => {
    if (seconds === null || seconds === undefined) return "–";
    if (data.start === null) return elapsed(seconds);
    const clock = new Date(data.start + seconds * 1000).toISOString().slice(11, 19);
    return `${elapsed(seconds)} (${clock} UTC)`;
  };

  // --- charts ------------------------------------------------------------------------------------

  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const narrow = () => window.innerWidth < 560;
  const drawn = [];
  // Whether times are shown by their logarithm. Curves with a long tail have no shape otherwise.
  const hasLongTail = data.curves.lines.slice(0, 11).some(({ times }) => times[times.length - 1] > 20 * times[Math.min(6, times.length - 1)]);
  const logarithmic = { course: false, curves: hasLongTail };
  // What is zoomed into: seconds from and to.
  let zoom = null;

  const axis = (values, more) => ({
    stroke: colour("--quiet"),
    grid: { stroke: colour("--grid"), width: 1 },
    ticks: { show: false },
    font: "12px system-ui, sans-serif",
    values,
    ...more,
  });
  const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400, 172800, 604800];
  const secondsAxis = () => axis((_, ticks) => ticks.map(elapsed), { incrs: STEPS, space: 60, size: 28 });
  // Lines at powers of ten only, where times are logarithmic.
  const isPowerOfTen = (number) => Math.abs(Math.log10(number) - Math.round(Math.log10(number))) < 1e-6;
  const timeAxis = (isLogarithmic) => {
    const own = axis((_, ticks) => ticks.map((tick) => (tick === null ? "" : time(tick))), { size: 62 });
    if (isLogarithmic) own.grid.filter = (_, ticks) => ticks.map((tick) => (isPowerOfTen(tick) ? tick : null));
    return own;
  };
  const countAxis = () => axis((_, ticks) => ticks.map((tick) => (tick === null ? "" : grouped(tick))), { size: 62 });

  // Where the generator did not keep up.
  const shade = (chart) => {
    const { ctx, bbox } = chart;
    ctx.save();
    ctx.fillStyle = colour("--shade");
    data.saturated.forEach(([from, to]) => {
      const left = Math.max(chart.valToPos(from, "x", true), bbox.left);
      const right = Math.min(chart.valToPos(to, "x", true), bbox.left + bbox.width);
      if (right > left) ctx.fillRect(left, bbox.top, right - left, bbox.height);
    });
    ctx.restore();
  };

  // A value between two that are missing has no line: it gets a point.
  const alone = (chart, series, isShown) => {
    const values = chart.data[series];
    const isThere = (at) => values[at] !== null && values[at] !== undefined;
    const indexes = [...values.keys()].filter((at) => isThere(at) && !isThere(at - 1) && !isThere(at + 1));
    return isShown || indexes.length > 0 ? indexes : null;
  };
  const line = (label, series, value, more) => ({
    label,
    stroke: colour(`--series-${series}`),
    width: 1.5,
    points: { show: true, size: 5, filter: alone },
    value: (_, number) => (number === null || number === undefined ? "–" : value(number)),
    ...more,
  });

  const make = (id, height, options, values) => {
    const place = byId(id);
    if (!place || place.clientWidth === 0) return null;
    const chart = new uPlot({
      width: isPrinting ? PAPER : place.clientWidth,
      height,
      pxAlign: true,
      ...options,
    }, values, place);
    chart.root.setAttribute("role", "img");
    chart.root.setAttribute("aria-label", place.parentNode.querySelector("figcaption, h2").textContent.trim());
    drawn.push(chart);
    return chart;
  };

  // Charts over time share their cursor and what they are zoomed into.
  const sharedCursor = () => ({
    sync: { key: "course", scales: ["x", null] },
    drag: { x: true, y: false, setScale: false },
    points: { size: 6 },
  });
  const whole = () => [data.all.t[0], data.all.t[data.all.t.length - 1] + data.all.width];
  const zoomTo = (span) => {
    zoom = span;
    byId("unzoom").disabled = span === null;
    const [min, max] = span ?? whole();
    drawn.filter((chart) => chart.overTime).forEach((chart) => chart.setScale("x", { min, max }));
  };
  const onSelect = (chart) => {
    if (chart.select.width < 4) return;
    const from = chart.posToVal(chart.select.left, "x");
    const to = chart.posToVal(chart.select.left + chart.select.width, "x");
    chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    // Never less than two intervals, or there is nothing to see.
    if (to - from >= data.all.width * 2) zoomTo([from, to]);
  };
  // What was counted in an interval is drawn at its middle, what holds to its end as a step up to there.
  const middles = ({ t, width }) => t.map((from) => from + width / 2);
  const upTo = ({ t, width }) => [...t, t[t.length - 1] + width];
  const held = (values) => [...values, values[values.length - 1]];
  const overTime = (id, height, series, t, values, yAxis, scale, hooks = {}, later = 0) => {
    const [min, max] = zoom ?? whole();
    const chart = make(id, height, {
      scales: { x: { time: false, min, max }, y: scale },
      axes: [secondsAxis(), yAxis],
      series: [{ label: "time", value: (_, seconds) => moment(seconds === null || seconds === undefined ? seconds : seconds - later) }, ...series],
      cursor: { ...sharedCursor(), bind: { dblclick: () => () => { zoomTo(null); return null; } } },
      hooks: { drawClear: [shade], setSelect: [onSelect], ...hooks },
    }, [t, ...values]);
    if (chart) chart.overTime = true;
    return chart;
  };

  const fromZero = { range: (_, min, max) => [0, max > 0 ? max * 1.08 : 1] };
  const timeScale = (isLogarithmic) => (isLogarithmic
    ? { distr: 3, range: (_, min, max) => (min > 0 ? uPlot.rangeLog(min, max, 10, true) : [0.1, 1]) }
    : fromZero);
  const perSecond = (number) => `${digits(number)}/s`;
  // What stays as it is until the next interval, as long as there are not so many that it is one area.
  const steps = () => (data.all.t.length > 240 ? {} : { paths: uPlot.paths.stepped({ align: 1 }) });
  const filled = (series) => ({ fill: `${colour(`--series-${series}`)}22` });

  // What rate and times are shown of: an index of a label, or -1 for all.
  let lane = -1;
  const drawCourse = () => {
    if (!byId("course") || data.all.t.length === 0) return;
    const height = narrow() ? 190 : 210;
    const t = upTo(data.all);
    const of = data.labels[lane] ?? data.all;
    const failures = { ...line("failed", 3, perSecond), ...filled(3) };
    overTime("chart-rate", height,
      [line("samples", 1, perSecond, filled(1)), failures], middles(of), [of.rate, of.failed], countAxis(), fromZero, {}, of.width / 2);
    overTime("chart-times", height,
      [line("p50", 1, time), line("p95", 2, time), line("p99", 3, time)],
      middles(of), [of.p50, of.p95, of.p99], timeAxis(logarithmic.course), timeScale(logarithmic.course), {}, of.width / 2);
    const load = [[line("threads", 5, grouped, { dash: [5, 4], ...steps() }), data.threads]];
    if (data.connections) {
      load.unshift([line("open connections", 4, grouped, { ...filled(4), ...steps() }), data.connections]);
    }
    const opens = [];
    if (data.opened) opens.push([line("opened", 4, perSecond, { ...filled(4), ...steps() }), data.opened]);
    if (data.refused) opens.push([line("refused", 3, perSecond, steps()), data.refused]);
    // Before its neighbour is drawn, which then has all the width.
    byId("chart-opens").parentNode.hidden = opens.length === 0;
    byId("load-title").textContent = data.connections ? "Open connections and threads" : "Threads";
    overTime("chart-load", height, load.map(([one]) => one), t, load.map(([, values]) => held(values)), countAxis(), fromZero);
    if (opens.length > 0) {
      overTime("chart-opens", height, opens.map(([one]) => one), t, opens.map(([, values]) => held(values)), countAxis(), fromZero);
    }
    drawHeat();
  };

  // --- the heat map ------------------------------------------------------------------------------

  const mix = (low, high, share) => {
    const part = (text, at) => Number.parseInt(text.slice(at, at + 2), 16);
    const channel = (at) => Math.round(part(low, at) + (part(high, at) - part(low, at)) * share);
    return `rgb(${channel(1)},${channel(3)},${channel(5)})`;
  };
  const drawHeat = () => {
    const { columns, edges, width } = data.heat;
    const place = byId("chart-heat");
    if (edges.length === 0) {
      place.parentNode.hidden = true;
      return;
    }
    const most = columns.reduce((known, [, rows]) => rows.reduce((max, [, count]) => Math.max(max, count), known), 1);
    byId("heat-most").textContent = grouped(most);
    const [low, high] = [colour("--heat-low"), colour("--heat-high")];
    // Counts differ by orders of magnitude, so that their logarithm is shown.
    const shadeOf = (count) => mix(low, high, most > 1 ? Math.log(count) / Math.log(most) : 1);
    const cells = (chart) => {
      const { ctx, bbox } = chart;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      columns.forEach(([from, rows]) => {
        const left = Math.floor(chart.valToPos(from, "x", true));
        const right = Math.ceil(chart.valToPos(from + width, "x", true));
        rows.forEach(([row, count]) => {
          const top = Math.floor(chart.valToPos(edges[row + 1], "y", true));
          const bottom = Math.ceil(chart.valToPos(edges[row], "y", true));
          ctx.fillStyle = shadeOf(count);
          ctx.fillRect(left, top, right - left, bottom - top);
        });
      });
      ctx.restore();
      shade(chart);
    };
    const value = byId("heat-value");
    const point = (chart) => {
      const { left, top } = chart.cursor;
      value.textContent = "";
      if (left === undefined || left < 0 || top < 0) return;
      const [second, ms] = [chart.posToVal(left, "x"), chart.posToVal(top, "y")];
      const column = columns.find(([from]) => second >= from && second < from + width);
      const cell = column?.[1].find(([row]) => ms >= edges[row] && ms < edges[row + 1]);
      if (!cell) return;
      const [row, count] = cell;
      value.textContent = `${moment(column[0])}: ${grouped(count)} from ${time(edges[row])} to ${time(edges[row + 1])}`;
    };
    const limits = [edges[0], edges[edges.length - 1]];
    const chart = overTime("chart-heat", narrow() ? 200 : 260,
      [{ label: "times", show: true, paths: () => null, points: { show: false } }],
      data.all.t, [data.all.t.map(() => null)], timeAxis(true), { distr: 3, range: () => limits },
      { drawAxes: [cells], setCursor: [point] });
    if (chart) chart.root.querySelector(".u-legend").remove();
  };

  // --- percentile curves -------------------------------------------------------------------------

  // Curves that the chart has, each with the number of its colour, and those of them that are hidden.
  const shownCurves = new Map();
  const hiddenCurves = new Set();
  const MOST_CURVES = 10;
  // Adds one; the oldest one goes where there are too many to be told apart.
  const showCurve = (index) => {
    const isSum = index === 0 && data.curves.lines.length > 1;
    const own = [...shownCurves.keys()].filter((one) => shownCurves.get(one) !== 0);
    if (!isSum && own.length >= MOST_CURVES) {
      shownCurves.delete(own[0]);
      hiddenCurves.delete(own[0]);
    }
    const taken = new Set(shownCurves.values());
    let colours = 1;
    while (taken.has(colours)) colours += 1;
    shownCurves.set(index, isSum ? 0 : colours);
  };
  data.curves.first.forEach(showCurve);
  const percentOf = (nines) => 100 * (1 - 10 ** -nines);
  const percentText = (nines) => {
    const decimals = nines < 1 ? 1 : Math.min(Math.ceil(nines) - 1, 7);
    return `${Number(percentOf(nines).toFixed(decimals))} %`;
  };
  const drawCurves = () => {
    const { nines, lines } = data.curves;
    if (lines.length === 0) return;
    // In the order of the table, whatever was chosen last.
    const indexes = [...shownCurves.keys()].sort((one, other) => one - other);
    const series = indexes.map((index) => ({
      ...line(lines[index].name, shownCurves.get(index), time, shownCurves.get(index) === 0 ? { width: 2.5 } : {}),
      show: !hiddenCurves.has(index),
    }));
    const values = indexes.map((index) => nines.map((_, at) => lines[index].times[at] ?? null));
    const marks = narrow() ? [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] : [0, 0.30103, 1, 2, 3, 4, 5, 6, 7, 8, 9];
    const points = Math.max(...indexes.map((index) => lines[index].times.length), 1);
    const most = Math.max(nines[points - 1], 1);
    make("chart-curves", narrow() ? 240 : 300, {
      scales: { x: { time: false, range: () => [0, most] }, y: timeScale(logarithmic.curves) },
      axes: [
        axis((_, ticks) => ticks.map(percentText), { size: 28, splits: () => marks.filter((mark) => mark <= most) }),
        timeAxis(logarithmic.curves),
      ],
      series: [{ label: "percentile", value: (_, at) => (at === null || at === undefined ? "–" : percentText(at)) }, ...series],
      cursor: { drag: { x: false, y: false }, points: { size: 6 } },
      hooks: {
        setSeries: [(chart, index, change) => {
          if (index === null || change.show === undefined) return;
          if (change.show) hiddenCurves.delete(indexes[index - 1]);
          else hiddenCurves.add(indexes[index - 1]);
        }],
      },
    }, [nines, ...values]);
  };

  // What can be chosen beside what is shown, and what that is.
  const curve = byId("curve");
  const offerCurves = () => {
    const { lines, labels } = data.curves;
    const others = lines.map((_, index) => index).filter((index) => !shownCurves.has(index));
    byId("more-curves").hidden = lines.length <= data.curves.first.length;
    const first = curve.options[0];
    curve.replaceChildren(first, ...others.map((index) => new Option(lines[index].name, String(index))));
    curve.value = "";
    const own = [...shownCurves.values()].filter((number) => number > 0).length;
    const note = byId("curves-note");
    note.hidden = own >= labels;
    const kept = lines.length - 1;
    note.textContent = `Shown are ${own} of ${grouped(labels)} labels, at first those with most samples; a further one takes the place of the one that was there longest.`
      + (kept < labels ? ` Only the ${kept} labels with most samples have a curve here.` : "");
  };
  if (curve) {
    curve.addEventListener("change", () => {
      if (curve.value === "") return;
      showCurve(Number(curve.value));
      offerCurves();
      drawAll();
    });
    offerCurves();
  }

  const drawAll = () => {
    drawn.splice(0).forEach((chart) => chart.destroy());
    drawCurves();
    drawCourse();
  };

  Object.entries(logarithmic).forEach(([name, isSet]) => {
    const box = byId(`log-${name}`);
    if (!box) return;
    box.checked = isSet;
    box.addEventListener("change", () => {
      logarithmic[name] = box.checked;
      drawAll();
    });
  });
  const lanes = byId("lane");
  if (lanes) {
    lanes.parentNode.hidden = data.labels.length < 2;
    data.labels.forEach(({ name }, index) => lanes.append(new Option(name, String(index))));
    const notes = [];
    if (data.labels.length > 0 && data.labels.length < data.curves.labels) {
      notes.push(`Over time the first ${data.labels.length} labels can be chosen; of the others only the sum is kept.`);
    }
    if (data.left_out) {
      const [samples, failed] = data.left_out;
      const of = failed > 0 ? ` (${grouped(failed)} failed)` : "";
      const last = samples === 1 ? "the last sample" : `the last ${grouped(samples)} samples`;
      notes.push(`Not drawn: ${last}${of}, in a rest of less than half an interval of ${data.all.width} s, of which rates and percentiles would mislead.`);
    }
    byId("course-note").hidden = notes.length === 0;
    byId("course-note").textContent = notes.join(" ");
    lanes.addEventListener("change", () => {
      lane = Number(lanes.value);
      drawAll();
    });
  }
  byId("unzoom")?.addEventListener("click", () => zoomTo(null));

  let width = window.innerWidth;
  let waiting;
  window.addEventListener("resize", () => {
    // On a telephone scrolling changes the height only.
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 100);
  });
  showTheme();
})();
